def welcome(name):
    text = "Hello, " + name
    return text


def part(name):
    text = "See you, " + name
    return text
