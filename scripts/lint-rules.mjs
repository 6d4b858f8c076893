// Rules of this project that oxlint does not have, each as selectors of the syntax tree (ESTree) and a message.

/** Refuses whatever one of `selectors` finds. */
const refuse = (selectors, message) => ({
  create: (context) =>
    Object.fromEntries(selectors.map((selector) => [selector, (node) => context.report({ node, message })])),
});

/** Its version 1.0.2 derives master keys with about 53 bits of entropy; only its circuit files are of use. */
export const ARTIFACTS_MESSAGE =
  "pp-artifacts holds circuit files; its code derives weak keys. Import @0xbow/privacy-pools-core-sdk.";

const plugin = {
  meta: { name: "causeway" },
  rules: {
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
