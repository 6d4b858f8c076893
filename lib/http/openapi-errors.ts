import errorsRecorded from "@/lib/contracts/examples/errors.json";
import events from "@/lib/contracts/examples/events.json";
import personRecorded from "@/lib/contracts/examples/person.json";
import privateRecorded from "@/lib/contracts/examples/private.json";
import fromTests from "@/lib/contracts/examples/tests.json";
import recorded from "@/lib/contracts/examples/recorded.json";
import type { ErrorCode } from "@/lib/core/errors";
import type { NamedContract } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { isPaged } from "./cursor";
import { ERROR_CASES } from "./error-cases/index";
import { ERROR_GUIDE, type ErrorGuide } from "./error-guide";
import { isIdempotent } from "./idempotency";
import { errorHeaders, type Json } from "./openapi-schemas";
import { STATUS_OF } from "./problem";

/** Example bodies of one call. Operations without a body have no request. */
export interface Example {
  readonly request?: unknown;
  /** For a stream: the data of one event. */
  readonly response?: unknown;
  /** The beginning of a stream, as it is sent. */
  readonly lines?: string;
}
export type Examples = Readonly<Record<string, Example>>;

/**
 * Bodies of real calls by operationId, and bodies of real webhooks by event type. Tests make the
 * calls and check that these files still match; `npm run openapi:examples` rewrites them.
 * `tests.json` has operations that only separate tests call. `events.json` is written by hand, for
 * events that no test produces.
 */
export const EXAMPLES: Examples = {
  ...events,
  ...fromTests,
  ...recorded,
  ...privateRecorded,
  ...personRecorded,
};

/**
 * One body for each error code, recorded from integration tests; `npm run openapi:errors` rewrites
 * them.
 */
export const ERROR_EXAMPLES: Readonly<Partial<Record<ErrorCode, unknown>>> = errorsRecorded;

/** The `example` of a media type; empty when none was recorded. */
export const exampleOf = (
  examples: Examples,
  name: string,
  side: keyof Example,
): { readonly example?: unknown } => {
  const example = examples[name]?.[side];
  return example === undefined ? {} : { example };
};

const ALWAYS: readonly ErrorCode[] = [
  "rate_limited",
  "internal_error",
  "service_unavailable",
  // An operation without parameters and fields refuses every name. A repeated parameter is
  // `invalid_request`.
  "unknown_parameter",
  "invalid_request",
];
const AUTHENTICATED: readonly ErrorCode[] = [
  "unauthorized",
  "api_key_expired",
  "api_key_revoked",
  "api_key_suspended",
  "forbidden",
  "insufficient_scope",
  // The project in `x-project-id` may not be one of the person's.
  "not_found",
];
const WITH_BODY: readonly ErrorCode[] = ["payload_too_large", "unsupported_media_type"];
const IDEMPOTENT: readonly ErrorCode[] = ["idempotency_in_progress", "idempotency_mismatch"];

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: "A field is at fault; `details` names each",
  401: "Not authenticated",
  403: "Not allowed",
  404: "It does not exist, or belongs to another project",
  405: "The path has no such method",
  409: "Not possible in the present state",
  410: "Expired",
  413: "The body is too large",
  415: "The body is not JSON",
  422: "Understood, but cannot be done",
  429: "Too many requests; see Retry-After",
  500: "The service has a fault",
  502: "A provider failed",
  503: "Not available right now; see Retry-After",
};

export const errorCodes = (contract: Contract): ReadonlySet<ErrorCode> => {
  const codes = new Set<ErrorCode>([...(contract.errors ?? []), ...ALWAYS]);
  const add = (more: readonly ErrorCode[]): void => more.forEach((code) => codes.add(code));
  // Exactly the operations that move money on chains declare `policy_violation`. Each of them can
  // also fail with the two codes that are added here.
  if (codes.has("policy_violation")) add(["signing_off", "paid_already"]);
  if (contract.auth !== "public") add(AUTHENTICATED);
  // An operation without a body still checks whether one was sent.
  if (contract.body !== undefined || contract.method !== "GET") add(WITH_BODY);
  if (isPaged(contract)) codes.add("invalid_cursor");
  if (contract.params !== undefined) codes.add("not_found");
  if (isIdempotent(contract)) add(IDEMPOTENT);
  return codes;
};

export const errorCodesByStatus = (
  contract: Contract,
): ReadonlyMap<number, readonly ErrorCode[]> => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...errorCodes(contract)].sort()) {
    const usual: number = STATUS_OF[code];
    const status = usual === 422 && contract.inputErrorsAs400 === true ? 400 : usual;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
};

const errorContent = (codes: readonly ErrorCode[]): Json => {
  const examples = codes
    .filter((code) => ERROR_EXAMPLES[code] !== undefined)
    .map((code) => [code, { $ref: `#/components/examples/${code}` }] as const);
  const schema = { $ref: "#/components/schemas/Error" };
  return { "application/json": { schema, examples: Object.fromEntries(examples) } };
};

const explain = (code: ErrorCode, { when, action }: ErrorGuide): string =>
  `- \`${code}\`: ${when} ${action}`;

/**
 * Describes each code by its case for the operation, or by the guide's line when the operation has
 * none.
 */
const describe = (status: number, codes: readonly ErrorCode[], operationId = ""): string => {
  const cases = ERROR_CASES[operationId] ?? {};
  const lines = codes.map((code) => explain(code, cases[code] ?? ERROR_GUIDE[code]));
  return [`${STATUS_TEXT[status] ?? "Error"}.`, ...lines].join("\n");
};

/** Codes that nearly every operation may answer. They are left out of response names. */
const USUAL: ReadonlySet<ErrorCode> = new Set([
  ...ALWAYS,
  ...AUTHENTICATED,
  ...WITH_BODY,
  ...IDEMPOTENT,
]);

/**
 * A name made of the status and the codes, such as `409-invalid_state`. Operations share a response
 * exactly when their codes are equal.
 */
const responseName = (status: number, codes: readonly ErrorCode[]): string => {
  const usual = [...USUAL].filter((code) => STATUS_OF[code] === status);
  const missing = usual.filter((code) => !codes.includes(code));
  const more = codes.filter((code) => !USUAL.has(code));
  if (missing.length === 0) return [String(status), ...more].join("-");
  return [
    String(status),
    ...more,
    ...(missing.length === usual.length ? ["alone"] : ["without", ...missing]),
  ].join("-");
};

export const createErrorResponses = () => {
  const shared = new Map<string, Json>();
  const examples = new Map<string, Json>();

  const keepExamples = (codes: readonly ErrorCode[]): void => {
    for (const code of codes)
      if (ERROR_EXAMPLES[code] !== undefined)
        examples.set(code, { summary: ERROR_GUIDE[code].when, value: ERROR_EXAMPLES[code] });
  };

  /**
   * When an operation has specific cases, its description is next to the reference, as OpenAPI 3.1
   * allows.
   */
  const of = ({ operationId, contract }: NamedContract): Json => {
    const sorted = [...errorCodesByStatus(contract)].sort(([a], [b]) => a - b);
    return Object.fromEntries(
      sorted.map(([status, codes]) => {
        const name = responseName(status, codes);
        const general = describe(status, codes);
        const own = describe(status, codes, operationId);
        keepExamples(codes);
        shared.set(name, {
          description: general,
          headers: errorHeaders(status, codes),
          content: errorContent(codes),
        });
        const description = own === general ? {} : { description: own };
        return [String(status), { $ref: `#/components/responses/${name}`, ...description }];
      }),
    );
  };

  return { of, shared, examples };
};
