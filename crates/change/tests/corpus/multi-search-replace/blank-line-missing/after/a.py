import os
import sys

def main(args):
    pass
