//! A text file as lines that remember their bytes (stub).
