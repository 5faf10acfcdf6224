title = "Main"
size = 2
