if (a < b) {
  swap();
}
