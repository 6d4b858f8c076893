import { z } from "zod";
import { DomainError, type ErrorDetail, invalidRequest, notFound } from "@/lib/core/errors";
import { closestName } from "@/lib/core/closest-name";
import { fieldsAt, strict } from "@/lib/contracts/strict";
import { BODY_BYTES_MAX, type Contract, JSON_DEPTH_MAX } from "@/lib/contracts/contract";
import { type HttpInput, readWithin } from "./input";

/**
 * Maximum length of a content type. It is longer than any content type that a client sends for
 * JSON.
 */
const LENGTH_MAX = 128;
const UTF8_PARAMETERS = new Set(["", "charset=utf-8", 'charset="utf-8"']);

/**
 * Whether the header names JSON, with UTF-8 if it names a charset. Runs in linear, bounded time.
 */
export const isJsonContentType = (header: string): boolean => {
  if (header === "application/json") return true;
  if (header.length > LENGTH_MAX) return false;
  const [type = "", parameter = "", ...rest] = header.toLowerCase().split(";");
  if (type.trim() !== "application/json" || !UTF8_PARAMETERS.has(parameter.trim()))
    return false;
  return (
    rest.length === 0 ||
    (rest.length === 1 && rest[0]?.trim() === "" && parameter.trim() !== "")
  );
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The index of the quote that ends the string beginning after `from`, or -1. Searching for quotes
 * is faster than checking each character.
 */
const endOfText = (json: string, from: number): number => {
  for (let end = json.indexOf('"', from); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    // An odd number of backslashes before the quote escapes it.
    if ((end - before) % 2 === 0) return end;
  }
  return -1;
};

// Comparisons instead of sets, because this runs for each character outside of strings.
const opens = (code: number): boolean => code === 0x5b || code === 0x7b;
const closes = (code: number): boolean => code === 0x5d || code === 0x7d;

/**
 * Whether arrays and objects in this JSON text nest deeper than `depthMax`. It takes one pass and
 * runs before `JSON.parse`, whose cost grows with the depth. It does not check whether the text is
 * valid JSON.
 */
export const isDeeperThan = (json: string, depthMax: number): boolean => {
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfText(json, index + 1);
      if (index === -1) return false;
    } else if (opens(code)) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (closes(code)) depth -= 1;
  }
  return false;
};

// Messages for schema violations. Zod's own texts mention its types, so callers never see them.

type Issue = z.core.$ZodRawIssue;

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object with fields",
  record: "an object with fields",
  null: "null",
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime:
    "must be a date and time with its offset, such as 2026-11-28T10:00:00Z or 2026-11-28T12:00:00+02:00",
  date: "must be a date such as 2026-11-28",
  email: "must be an e-mail address such as name@example.com",
  url: "must be a web address such as https://example.com/path",
};

const counted = (count: number | bigint, noun: string): string => {
  if (noun === "entries") return count === 1 ? "1 entry" : `${String(count)} entries`;
  return count === 1 ? "1 character" : `${String(count)} characters`;
};

const tooSmall = ({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string => {
  if (origin === "string")
    return minimum === 1 ? "must not be empty" : `must have at least ${counted(minimum, "")}`;
  if (origin === "array")
    return minimum === 1
      ? "must not be empty"
      : `must have at least ${counted(minimum, "entries")}`;
  return inclusive === false
    ? `must be above ${String(minimum)}`
    : `must be ${String(minimum)} or more`;
};

const tooBig = ({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): string => {
  if (origin === "string") return `is too long: it may have at most ${counted(maximum, "")}`;
  if (origin === "array") return `may have at most ${counted(maximum, "entries")}`;
  return inclusive === false
    ? `must be below ${String(maximum)}`
    : `must be ${String(maximum)} or less`;
};

const shown = (value: unknown): string =>
  typeof value === "string" ? `"${value}"` : String(value);

/** The message for a value that is not allowed: `must be "a"`, or `must be one of "a", "b"`. */
const oneOf = (values: readonly unknown[]): string =>
  values.length === 1
    ? `must be ${shown(values[0])}`
    : `must be one of ${values.map(shown).join(", ")}`;

/**
 * The message for a schema issue that defines none itself. It continues a sentence after the name
 * of the field.
 */
const wordsOf = (issue: Issue): string => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is required"
        : `must be ${NOUNS[issue.expected] ?? "of another type"}`;
    case "invalid_value":
      return issue.input === undefined ? "is required" : oneOf(issue.values);
    case "invalid_union":
      return Array.isArray(issue.options)
        ? oneOf(issue.options)
        : "has none of the possible forms";
    case "too_small":
      return tooSmall(issue as z.core.$ZodIssueTooSmall);
    case "too_big":
      return tooBig(issue as z.core.$ZodIssueTooBig);
    case "invalid_format":
      return FORMATS[issue.format] ?? "has a wrong form";
    case "not_multiple_of":
      return `must be a multiple of ${String(issue.divisor)}`;
    case "invalid_key":
      return "has a field whose name has a wrong form";
    case "unrecognized_keys":
    case "invalid_element":
    case "custom":
      return "is not valid";
  }
};

// Lists the faults of a request field by field, from the issues that its schema reported.

type ZodIssue = z.core.$ZodIssue;

const UNKNOWN = "unknown_parameter";

const NAMES_SHOWN_MAX = 10;
/** Maximum number of faults in an answer. */
const FAULTS_MAX = 200;
/**
 * Maximum number of unknown names for which a similar name is suggested, because each is compared
 * with every known name.
 */
const HINTS_MAX = 10;
/**
 * The form of valid names. Other or longer texts may be secrets in a wrong place, so they are not
 * repeated.
 */
const NAME = /^[\p{L}_$][\p{L}\p{N}_$.-]{0,29}$/u;
const SHOWN_OF_OTHERS = 8;

const named = (key: PropertyKey): string => {
  const name = String(key);
  if (typeof key === "number" || NAME.test(name)) return name;
  return `${name.slice(0, SHOWN_OF_OTHERS).replace(/\p{C}/gu, "\ufffd")}…`;
};

const isOfOtherKind = (issues: readonly ZodIssue[]): boolean =>
  issues.some(
    ({ path, code }) =>
      path.length === 0 && (code === "invalid_type" || code === "invalid_value"),
  );

/**
 * The issues of the union option that the value resembles most. If it resembles none, one issue
 * that names the options.
 */
const flat = (issue: ZodIssue): readonly ZodIssue[] => {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const options = issue.errors.map((issues) => issues.flatMap(flat));
  const near = options.filter((issues) => !isOfOtherKind(issues));
  const [first, ...others] = near;
  if (first === undefined) {
    const forms = new Set(options.flatMap((issues) => issues.map(({ message }) => message)));
    return [{ ...issue, message: [...forms].join(" or ") }];
  }
  const closest = others.reduce(
    (best, each) => (each.length < best.length ? each : best),
    first,
  );
  return closest.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
};

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === "object" && found !== null
        ? (found as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  );

/**
 * The fault of an unknown name, with a suggestion if a known name is similar: "is not a field of
 * this request; did you mean `validateOnly`?"
 */
const unknownName = (
  path: readonly PropertyKey[],
  noun: string,
  known: readonly string[],
  withHint = true,
): ErrorDetail => {
  const closest = withHint ? closestName(String(path.at(-1)), known) : null;
  const names =
    known.length === 0
      ? "it has none"
      : `it has ${known.map((name) => `\`${name}\``).join(", ")}`;
  const hint = closest === null ? names : `did you mean \`${closest}\`?`;
  const isLong = closest === null && (!withHint || known.length > NAMES_SHOWN_MAX);
  return {
    path: path.map(named).join("."),
    message: `is not a ${noun} of this request${isLong ? "" : `; ${hint}`}`,
    code: UNKNOWN,
  };
};

interface Checked {
  readonly schema: z.ZodType;
  readonly value: unknown;
  /** The word for a name in this place: "field" of a body, "query parameter". */
  readonly noun: string;
}

const unknownFaults = (
  { schema, noun }: Checked,
  issues: readonly ZodIssue[],
): ErrorDetail[] => {
  const faults: ErrorDetail[] = [];
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const known = fieldsAt(schema, issue.path);
    for (const key of issue.keys.slice(0, FAULTS_MAX - faults.length))
      faults.push(unknownName([...issue.path, key], noun, known, faults.length < HINTS_MAX));
    if (faults.length >= FAULTS_MAX) break;
  }
  return faults;
};

const otherFault = ({ value }: Checked, issue: ZodIssue): ErrorDetail => {
  const isMissing =
    issue.code !== "custom" &&
    issue.path.length > 0 &&
    valueAt(value, issue.path) === undefined;
  const message = isMissing ? "is required" : issue.message;
  return { path: issue.path.map(String).join("."), message, code: issue.code };
};

/**
 * The first faults with their dotted paths, such as `from.0.amount`. Unknown names come first,
 * because they often explain missing ones.
 */
export const faultsOf = (checked: Checked, error: z.ZodError): ErrorDetail[] => {
  const issues = error.issues.flatMap(flat);
  const unknown = unknownFaults(checked, issues);
  const others = issues
    .filter(({ code }) => code !== "unrecognized_keys")
    .slice(0, FAULTS_MAX - unknown.length);
  return [...unknown, ...others.map((issue) => otherFault(checked, issue))];
};

const DETAILS_MAX = 200;
/** The schema of an operation without a body, or without query parameters. */
const NOTHING = z.strictObject({});
const ESCAPED_UNSTORABLE = /\\u(?:0000|d[89a-f])/i;
const UNSTORABLE =
  "has a character that cannot be stored (U+0000, or half of a surrogate pair)";

const describe = (details: readonly ErrorDetail[]): string => {
  const [first] = details;
  if (first === undefined) return "The request is not valid.";
  const more = details.length > 1 ? ` (and ${String(details.length - 1)} more)` : "";
  return `${first.path === "" ? "The body" : first.path}: ${first.message}${more}`;
};

/**
 * Parses the value with its schema.
 * @throws DomainError `unknown_parameter` when the schema does not have a name, `invalid_request`
 * for other faults
 */
const check = (checked: Checked): unknown => {
  const parsed = checked.schema.safeParse(checked.value, { error: wordsOf });
  if (parsed.success) return parsed.data;
  const details = faultsOf(checked, parsed.error);
  const code = details[0]?.code === UNKNOWN ? UNKNOWN : "invalid_request";
  throw new DomainError(code, describe(details), { details });
};

const isStorable = (text: string): boolean =>
  !text.includes("\0") && !/\p{Surrogate}/u.test(text);

const unstorableIn = (value: unknown, path: readonly string[]): ErrorDetail[] => {
  if (typeof value === "string")
    return isStorable(value)
      ? []
      : [{ path: path.join("."), message: UNSTORABLE, code: "invalid_text" }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [
    ...(isStorable(key)
      ? []
      : [{ path: path.join("."), message: UNSTORABLE, code: "invalid_text" }]),
    ...unstorableIn(part, [...path, key]),
  ]);
};

/**
 * Returns the value, unless it contains text that cannot be stored. PostgreSQL stores neither NUL
 * nor half of a surrogate pair. In JSON columns it may accept them, and then fail to return them.
 * @throws DomainError `invalid_request`
 */
const requireStorable = (value: unknown): unknown => {
  const details = unstorableIn(value, []).slice(0, DETAILS_MAX);
  if (details.length > 0) throw invalidRequest(details, describe(details));
  return value;
};

/**
 * Reads the path parameters.
 * @throws DomainError `not_found` for path parameters that cannot belong to any object
 */
export const parseParams = (
  contract: Contract,
  params: Readonly<Record<string, string>>,
): unknown => {
  if (contract.params === undefined) return undefined;
  const parsed = contract.params.safeParse(params);
  if (!parsed.success) throw notFound();
  return parsed.data;
};

/**
 * Rejects a query in which a parameter is repeated, because programs differ in which value they
 * use.
 * @throws DomainError `invalid_request`
 */
const refuseRepeated = (given: URLSearchParams): void => {
  const names = [...given.keys()];
  const details = [
    ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
  ].map((path) => ({
    path,
    message: "is given more than once; give it once",
    code: "repeated_parameter",
  }));
  if (details.length > 0) throw invalidRequest(details, describe(details));
};

/** A date-time whose `+` was not escaped as `%2B`, so that it arrives as a space. */
const UNESCAPED_OFFSET = /^(\d{4}-\d\d-\d\dT[\d:.]+) (\d\d:\d\d)$/;

/** Reads the query parameters. @throws DomainError `unknown_parameter`, `invalid_request` */
export const parseQuery = (contract: Contract, search: string): unknown => {
  if (contract.query === undefined && search === "") return undefined;
  const given = new URLSearchParams(search);
  refuseRepeated(given);
  const asSent = [...given].map(
    ([name, value]) => [name, value.replace(UNESCAPED_OFFSET, "$1+$2")] as const,
  );
  const schema = strict(contract.query ?? NOTHING);
  const query = check({ schema, value: Object.fromEntries(asSent), noun: "query parameter" });
  if (contract.query === undefined) return undefined;
  return search.includes("%00") ? requireStorable(query) : query;
};

/**
 * Returns the result of `read`.
 * @throws DomainError `invalid_request` when `read` throws, because the body is not JSON
 */
const asJson = <T>(read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    const message = "The body is not valid JSON (UTF-8).";
    throw new DomainError("invalid_request", message, {
      details: [{ path: "", message, code: "invalid_json" }],
      cause,
    });
  }
};

const refuseDepth = (depthMax: number): DomainError => {
  const message = `The body nests deeper than ${String(depthMax)} levels.`;
  return new DomainError("invalid_request", message, {
    details: [{ path: "", message, code: "too_deep" }],
  });
};

const senderOf = (contract: Contract): "public" | "authenticated" =>
  contract.auth === "public" ? "public" : "authenticated";

const requireJson = (input: HttpInput): void => {
  const coding = input.header("content-encoding") ?? "identity";
  if (coding !== "identity")
    throw new DomainError(
      "unsupported_media_type",
      "The body is compressed (Content-Encoding), and compressed bodies are not read here. Send plain JSON.",
    );
  if (!isJsonContentType(input.header("content-type") ?? ""))
    throw new DomainError(
      "unsupported_media_type",
      "The body must be JSON: Content-Type: application/json.",
    );
};

/**
 * The body's bytes. Content type and size are checked first, because these checks are cheap for any
 * body.
 * @throws DomainError `unsupported_media_type`, `payload_too_large`
 */
export const readRawBody = async (
  contract: Contract,
  input: HttpInput,
): Promise<Uint8Array> => {
  requireJson(input);
  return readWithin(input, contract.bodyLimit ?? BODY_BYTES_MAX[senderOf(contract)]);
};

/**
 * Parses and checks a body. Its depth is checked before `JSON.parse`.
 * @throws DomainError `unknown_parameter`, `invalid_request`
 */
export const parseBody = (contract: Contract, raw: Uint8Array): unknown => {
  const text = asJson(() => new TextDecoder("utf-8", { fatal: true }).decode(raw));
  const depthMax = JSON_DEPTH_MAX[senderOf(contract)];
  if (isDeeperThan(text, depthMax)) throw refuseDepth(depthMax);
  const value = asJson(() => JSON.parse(text) as unknown);
  const body = check({ schema: strict(contract.body ?? NOTHING), value, noun: "field" });
  // In valid JSON of valid UTF-8, unstorable characters can occur only as escapes.
  return ESCAPED_UNSTORABLE.test(text) ? requireStorable(body) : body;
};

/**
 * Refuses fields in the body of an operation that has none, because their sender believes that they
 * have an effect. An empty body and `{}` are accepted.
 * @throws DomainError like `parseBody`
 */
export const requireNoFields = async (contract: Contract, input: HttpInput): Promise<void> => {
  // The body of a GET has no meaning (RFC 9110, 9.3.1).
  if (contract.method === "GET") return;
  const raw = await readWithin(input, BODY_BYTES_MAX.public);
  if (raw.byteLength === 0) return;
  requireJson(input);
  parseBody(contract, raw);
};
