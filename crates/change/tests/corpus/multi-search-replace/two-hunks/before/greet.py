def greet(name):
    text = "Hello, " + name
    return text


def part(name):
    text = "Bye, " + name
    return text
