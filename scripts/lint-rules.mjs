// The project's own lint rules, which oxlint does not have. Most are selectors of the syntax tree
// (ESTree) with a message.

/** Makes a rule that reports each node that one of the selectors matches. */
const refuse = (selectors, message) => ({
  create: (context) =>
    Object.fromEntries(
      selectors.map((selector) => [selector, (node) => context.report({ node, message })]),
    ),
});

const OWN_LINES_MAX = 80;
const FUNCTIONS = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];
const NO_CODE = /^\s*(?:$|\/\/|\/\*|\*)/;

/**
 * Refuses functions with too many lines of code. The lines of an inner function count only for the
 * inner one, so that a factory may return many short functions.
 */
const functionLength = {
  create: (context) => {
    const lines = context.sourceCode.getText().split("\n");
    const isCode = lines.map((line) => !NO_CODE.test(line));
    const innerLines = [0];
    const leave = (node) => {
      const all = isCode
        .slice(node.loc.start.line - 1, node.loc.end.line)
        .filter(Boolean).length;
      const own = all - innerLines.pop();
      // The line on which an inner function begins also belongs to the outer function.
      innerLines[innerLines.length - 1] += Math.max(all - 1, 0);
      if (own > OWN_LINES_MAX)
        context.report({
          node,
          message: `This function has ${own} lines of its own; at most ${OWN_LINES_MAX} are allowed.`,
        });
    };
    return Object.fromEntries(
      FUNCTIONS.flatMap((type) => [
        [type, () => innerLines.push(0)],
        [`${type}:exit`, leave],
      ]),
    );
  },
};

/**
 * Message of the rule that refuses imports of code from pp-artifacts. Version 1.0.2 of its code
 * derives master keys with only about 53 bits of entropy, so the project uses only its circuit
 * files.
 */
export const ARTIFACTS_MESSAGE =
  "pp-artifacts holds circuit files; its code derives weak keys. Import @0xbow/privacy-pools-core-sdk.";

const plugin = {
  meta: { name: "causeway" },
  rules: {
    "function-length": functionLength,
    "no-artifacts-code": refuse(
      [
        "ImportExpression[source.value=/^pp-artifacts/]",
        "CallExpression[callee.name='require'][arguments.0.value=/^pp-artifacts/]",
      ],
      ARTIFACTS_MESSAGE,
    ),
    "no-enum": refuse(["TSEnumDeclaration"], "Use an `as const` list."),
    "no-default-export": refuse(
      ["ExportDefaultDeclaration"],
      "Named exports; default exports only where Next or a tool wants them.",
    ),
    "no-plain-form": refuse(
      ["JSXOpeningElement[name.name='form']"],
      "Use <Form> of components/ui/form.tsx with useForm and zodResolver.",
    ),
    "sql-in-repository": refuse(
      [
        "MemberExpression[property.name=/^\\$(query|execute)Raw(Unsafe)?$/]",
        "CallExpression[callee.property.name=/^(query|change)$/]",
        "CallExpression[callee.name='query']",
      ],
      "Move the statement to a file whose name ends in repository.ts, and return domain types.",
    ),
    "parse-in-repository": refuse(
      [
        "CallExpression[callee.property.name=/^(safeP|p)arse(Async)?$/] MemberExpression.callee Identifier[name=/^stored[A-Z]/]",
      ],
      "Parse rows and JSON columns in a repository, or in a file of scripts/stored-forms.mjs that a repository calls.",
    ),
  },
};

export default plugin;
