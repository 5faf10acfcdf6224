use super::*;

const AMPLE: Duration = Duration::from_secs(60);

fn spans(path: &str, text: &str) -> Option<Vec<Range<usize>>> {
    elidable_lines(&RelPath::parse(path).unwrap(), text, AMPLE)
}

/// The text with `…` for what can be left out.
fn outline(path: &str, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    let mut at = 0;
    for span in spans(path, text).unwrap_or_default() {
        assert!(at <= span.start && span.len() >= MIN_ELIDED_LINES && span.end <= lines.len(), "{span:?}");
        lines[at..span.start].iter().for_each(|line| out.extend([line, "\n"]));
        out.push_str(&format!("… {}\n", span.len()));
        at = span.end;
    }
    lines[at..].iter().for_each(|line| out.extend([line, "\n"]));
    out
}

#[test]
fn rust() {
    let text = format!(
        "use a::b;\n\nimpl A {{\n    fn f(&self) {{\n{0}    }}\n\n    fn g(&self) {{\n        1;\n    }}\n}}\n\nconst B: [u8; 6] = [\n{1}];\n\
         m! {{\n{0}}}\n{2}",
        "        g();\n".repeat(6),
        "    1,\n".repeat(6),
        "const C: u8 = 1;\n".repeat(3),
    );
    insta::assert_snapshot!(outline("a.rs", &text), @"
    use a::b;

    impl A {
        fn f(&self) {
    … 6
        }

        fn g(&self) {
            1;
        }
    }

    const B: [u8; 6] = [
    … 6
    ];
    m! {
    … 6
    }
    const C: u8 = 1;
    const C: u8 = 1;
    const C: u8 = 1;
    ");
}

#[test]
fn python() {
    let text = format!(
        "class A:\n    \"\"\"Doc.\"\"\"\n\n    def f(self):\n        \"\"\"Says what.\n\n        And how.\n        \"\"\"\n{0}\n    def g(\n        self,\n    ):\n        # why\n{0}\n\nB = {{\n{1}}}\n",
        "        g()\n".repeat(6),
        "    'a': 1,\n".repeat(5),
    );
    insta::assert_snapshot!(outline("a.py", &text), @r#"
    class A:
        """Doc."""

        def f(self):
            """Says what.
    … 9

        def g(
            self,
        ):
            # why
    … 6


    B = {
    … 5
    }
    "#);
}

#[test]
fn typescript() {
    let text = format!(
        "export class A {{\n  f(): void {{\n{0}  }}\n}}\nexport const g = () => {{\n{0}}};\nconst B = {{\n{1}}};\nnamespace N {{\n  export function h() {{\n{0}  }}\n}}\n",
        "    g();\n".repeat(6),
        "  a: 1,\n".repeat(5),
    );
    insta::assert_snapshot!(outline("a.ts", &text), @"
    export class A {
      f(): void {
    … 6
      }
    }
    export const g = () => {
    … 6
    };
    const B = {
    … 5
    };
    namespace N {
      export function h() {
    … 6
      }
    }
    ");
}

#[test]
fn go() {
    let text = format!(
        "package a\n\ntype A struct {{\n\tb int\n}}\n\nfunc (a A) f() {{\n{0}}}\n\nvar B = []int{{\n{1}}}\n",
        "\tg()\n".repeat(6),
        "\t1,\n".repeat(5),
    );
    insta::assert_snapshot!(outline("a.go", &text), @"
    package a

    type A struct {
    	b int
    }

    func (a A) f() {
    … 6
    }

    var B = []int{
    … 5
    }
    ");
}

#[test]
fn java() {
    let text = format!(
        "class A {{\n  A() {{\n{0}  }}\n\n  /**\n{1}   */\n  void f() {{\n{0}  }}\n}}\n",
        "    g();\n".repeat(6),
        "   * why\n".repeat(6),
    );
    insta::assert_snapshot!(outline("a.java", &text), @"
    class A {
      A() {
    … 6
      }

      /**
    … 6
       */
      void f() {
    … 6
      }
    }
    ");
}

#[test]
fn ruby_cpp_and_shell() {
    let text = format!("class A\n  def f(x)\n{0}  end\n\n  def g\n{0}  end\nend\n", "    g\n".repeat(6));
    insta::assert_snapshot!(outline("a.rb", &text), @"
    class A
      def f(x)
    … 6
      end

      def g
    … 6
      end
    end
    ");
    let text = format!(
        "namespace n {{\nclass A {{\n  int b;\n}};\nint f()\n{{\n{0}}}\nint g() {{\n{0}}}\n}}\n",
        "  g();\n".repeat(6)
    );
    insta::assert_snapshot!(outline("a.cpp", &text), @"
    namespace n {
    class A {
      int b;
    };
    int f()
    {
    … 6
    }
    int g() {
    … 6
    }
    }
    ");
    let text = format!("f() {{\n{0}}}\ng() {{\n{0}}}\n", "  g\n".repeat(6));
    insta::assert_snapshot!(outline("a.sh", &text), @"
    f() {
    … 6
    }
    g() {
    … 6
    }
    ");
}

#[test]
fn data() {
    let text = format!(
        "{{\n  \"a\": {{\n{0}    \"z\": 1\n  }},\n  \"b\": [\n{1}    2\n  ]\n}}\n",
        "    \"y\": 1,\n".repeat(5),
        "    1,\n".repeat(5)
    );
    insta::assert_snapshot!(outline("a.json", &text), @r#"
    {
      "a": {
    … 6
      },
      "b": [
    … 6
      ]
    }
    "#);
    let text = format!("a:\n{0}b:\n{0}\nc: |\n{1}d: 1\n", "  - x: 1\n".repeat(6), "  text\n".repeat(6));
    insta::assert_snapshot!(outline("a.yaml", &text), @"
    a:
    … 6
    b:
    … 6

    c: |
    … 6
    d: 1
    ");
}

#[test]
fn markdown() {
    let text = format!(
        "---\ntitle: x\n---\n# One\n\nFirst.\n{0}## Two\nFirst.\n```\n# no heading\n{0}```\n\nThree\n=====\n\nFirst.\nSecond.\n",
        "More.\n".repeat(6)
    );
    insta::assert_snapshot!(outline("a.md", &text), @"
    ---
    title: x
    ---
    # One

    First.
    … 6
    ## Two
    First.
    … 10
    Three
    =====

    First.
    Second.
    ");
    assert_eq!(spans("a.md", &"text\n".repeat(100)), None);
}

#[test]
fn what_is_most_of_the_file_is_not_left_out_as_one() {
    let case = format!("  it('x', () => {{\n{}  }});\n", "    g();\n".repeat(6));
    let text = format!("describe('a', () => {{\n{}}});\n", case.repeat(3));
    assert_eq!(spans("a.js", &text), Some(vec![2..8, 10..16, 18..24]));
}

#[test]
fn what_does_not_parse_is_unknown_or_minified_has_no_outline() {
    let good = format!("fn f() {{\n{}}}\n{}", "    g();\n".repeat(9), "const A: u8 = 1;\n".repeat(9));
    assert!(spans("a.rs", &good).is_some());
    assert_eq!(spans("a.rs", &format!("{good}fn g( {{\n")), None);
    assert_eq!(spans("a.xyz", &good), None);
    assert_eq!(spans("Makefile", &good), None);
    let comment = |bytes: usize| format!("{good}//{}\n", "x".repeat(bytes - 2));
    assert!(spans("a.rs", &comment(OUTLINE_LINE_BYTES)).is_some());
    assert_eq!(spans("a.rs", &comment(OUTLINE_LINE_BYTES + 1)), None);
    let late = elidable_lines(&RelPath::parse("a.rs").unwrap(), &good, Duration::ZERO);
    assert_eq!(late, None);
}

#[test]
fn limits_2_mib_and_20000_lines() {
    let lines = |count: usize| "# a\n".to_owned() + &"\n".repeat(count - 1);
    assert!(spans("a.md", &lines(OUTLINE_LINES)).is_some());
    assert_eq!(spans("a.md", &lines(OUTLINE_LINES + 1)), None);
    let line = format!("{}\n", "x".repeat(1_023));
    let most = "# a\n".to_owned() + &line.repeat(2_047) + &"x".repeat(1_020);
    assert_eq!(most.len(), OUTLINE_BYTES);
    assert!(spans("a.md", &most).is_some());
    assert_eq!(spans("a.md", &(most + "x")), None);
}

#[test]
fn hostile_texts_end_in_time() {
    let start = Instant::now();
    let most = OUTLINE_BYTES - 4_096;
    for (path, unit) in [
        ("a.rs", "("),
        ("a.rs", "fn f() {"),
        ("a.json", "["),
        ("a.ts", "{"),
        ("a.ts", "<a>("),
        ("a.py", "("),
        ("a.yaml", "["),
        ("a.sh", "))"),
        ("a.cpp", "a<"),
        ("a.html", "<a>"),
        ("a.rb", "f do\n"),
        ("a.md", "```\n"),
    ] {
        let line = unit.repeat(OUTLINE_LINE_BYTES / unit.len() / 2) + "\n";
        for most in [FILE_BYTES, most] {
            let text = line.repeat(most / line.len());
            elidable_lines(&RelPath::parse(path).unwrap(), &text, Duration::from_millis(100));
        }
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
