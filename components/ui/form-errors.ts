import { describeError } from "./describe-error";

interface FieldError<Name extends string> {
  readonly name: Name;
  readonly message: string;
}

interface SplitError<Name extends string> {
  /** The first message of each field. */
  readonly fields: readonly FieldError<Name>[];
  /** The error; null when the fields show all of it. */
  readonly rest: unknown;
}

interface MessagesByField<Name extends string> {
  readonly fields: Readonly<Partial<Record<Name, string>>>;
  /** The error; null when the fields show all of it. */
  readonly rest: unknown;
}

/** A detail of the API as a sentence: "must be a decimal string" → "Must be a decimal string." */
export const sentence = (message: string): string => {
  const text = message.replace(/^(\w+\.)*\w+ must /, "Must ");
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
};

/**
 * Whether an error is also shown in full when fields show its details. True for a policy
 * violation, because its details do not name the policy and its rule.
 */
const isShownWhole = (code: string | null): boolean => code === "policy_violation";

/** Splits the API's `details` into messages for the fields of a form and a rest for its notice. */
export const splitByField = <Name extends string>(
  error: unknown,
  nameOf: (path: string) => Name | undefined,
): SplitError<Name> => {
  if (error == null) return { fields: [], rest: null };
  const { details, code } = describeError(error);
  const fields = new Map<Name, FieldError<Name>>();
  for (const { path, message } of details) {
    const name = nameOf(path);
    if (name !== undefined && !fields.has(name))
      fields.set(name, { name, message: sentence(message) });
  }
  const isWhole =
    !isShownWhole(code) &&
    details.length > 0 &&
    details.every(({ path }) => nameOf(path) !== undefined);
  return { fields: [...fields.values()], rest: isWhole ? null : error };
};

/** The messages of `splitByField` by field name, for forms whose fields look up their message. */
export const messagesByField = <Name extends string>(
  error: unknown,
  nameOf: (path: string) => Name | undefined,
): MessagesByField<Name> => {
  const { fields, rest } = splitByField(error, nameOf);
  const entries = fields.map(({ name, message }) => [name, message] as const);
  return { fields: Object.fromEntries(entries) as MessagesByField<Name>["fields"], rest };
};
