def work():
    first(1)
    second()
    third()
    fourth()
    return 10


def other():
    return 2
