title = "Main"
size = 1
