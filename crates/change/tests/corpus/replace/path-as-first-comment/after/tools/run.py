# tools/run.py
print(1)
