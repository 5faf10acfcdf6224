import io
import sys

def main():
    pass
