def work():
    first()
    second()
    third()
    fourth()
    return 1


def other():
    return 2
