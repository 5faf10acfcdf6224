if (a < b) {
  swap(a, b);
}
