import type { NamedContract } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import type { ErrorCode } from "@/lib/core/errors";
import { ERROR_CASES } from "./error-cases";
import { ERROR_GUIDE, type ErrorGuide } from "./error-guide";
import { ERROR_EXAMPLES } from "./openapi-examples";
import type { Json } from "./openapi-schemas";
import { STATUS_OF } from "./problem";

const ALWAYS: readonly ErrorCode[] = ["rate_limited", "internal_error", "service_unavailable"];
const AUTHENTICATED: readonly ErrorCode[] = [
  "unauthorized",
  "api_key_expired",
  "api_key_revoked",
  "forbidden",
  "insufficient_scope",
  // The project that `x-project-id` names may not be one of the person's.
  "not_found",
];
const WITH_BODY: readonly ErrorCode[] = ["invalid_request", "payload_too_large", "unsupported_media_type"];
// `invalid_request`: the header Idempotency-Key has no usable key.
const IDEMPOTENT: readonly ErrorCode[] = ["idempotency_in_progress", "idempotency_mismatch", "invalid_request"];

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

/** Whether the route keeps its answer under an Idempotency-Key. */
export const isIdempotent = (contract: Contract): boolean => contract.method === "POST" && contract.auth !== "public";

export const errorCodes = (contract: Contract): ReadonlySet<ErrorCode> => {
  const codes = new Set<ErrorCode>([...(contract.errors ?? []), ...ALWAYS]);
  const add = (more: readonly ErrorCode[]): void => more.forEach((code) => codes.add(code));
  // Policies bound exactly what moves money on chains, which is refused while nothing may be signed.
  if (codes.has("policy_violation")) add(["signing_off", "paid_already"]);
  if (contract.auth !== "public") add(AUTHENTICATED);
  if (contract.body !== undefined) add(WITH_BODY);
  if (contract.query !== undefined) codes.add("invalid_request");
  // `invalid_request`: an empty segment or a control character in the path.
  if (contract.params !== undefined) add(["not_found", "invalid_request"]);
  if (isIdempotent(contract)) add(IDEMPOTENT);
  return codes;
};

/** The form of errors, with an example for each code. */
const errorContent = (codes: readonly ErrorCode[]): Json => {
  const examples = codes
    .filter((code) => ERROR_EXAMPLES[code] !== undefined)
    .map((code) => [code, { $ref: `#/components/examples/${code}` }] as const);
  const schema = { $ref: "#/components/schemas/Error" };
  return { "application/json": { schema, examples: Object.fromEntries(examples) } };
};

const explain = (code: ErrorCode, { when, action }: ErrorGuide): string => `- \`${code}\`: ${when} ${action}`;

/** Each code with its case for the operation, and with the guide's line where the operation has none. */
const describe = (status: number, codes: readonly ErrorCode[], operationId = ""): string => {
  const cases = ERROR_CASES[operationId] ?? {};
  const lines = codes.map((code) => explain(code, cases[code] ?? ERROR_GUIDE[code]));
  return [`${STATUS_TEXT[status] ?? "Error"}.`, ...lines].join("\n");
};

/** Codes that nearly every operation may answer with their status; names of responses leave them out. */
const USUAL: ReadonlySet<ErrorCode> = new Set([...ALWAYS, ...AUTHENTICATED, ...WITH_BODY, ...IDEMPOTENT]);

/** A name made of the status and the codes, such as `409-invalid_state`. Operations with equal codes, and no others, share one response. */
const responseName = (status: number, codes: readonly ErrorCode[]): string => {
  const usual = [...USUAL].filter((code) => STATUS_OF[code] === status);
  const missing = usual.filter((code) => !codes.includes(code));
  const more = codes.filter((code) => !USUAL.has(code));
  if (missing.length === 0) return [String(status), ...more].join("-");
  return [String(status), ...more, ...(missing.length === usual.length ? ["alone"] : ["without", ...missing])].join(
    "-",
  );
};

/** Error responses that many operations share, by the codes that they have; and an example of each code. */
export const createErrorResponses = () => {
  const shared = new Map<string, Json>();
  const examples = new Map<string, Json>();

  const keepExamples = (codes: readonly ErrorCode[]): void => {
    for (const code of codes)
      if (ERROR_EXAMPLES[code] !== undefined)
        examples.set(code, { summary: ERROR_GUIDE[code].when, value: ERROR_EXAMPLES[code] });
  };

  /** A response whose codes have cases of their own describes them beside its reference, as OpenAPI 3.1 allows. */
  const of = ({ operationId, contract }: NamedContract): Json => {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of [...errorCodes(contract)].sort()) {
      const usual: number = STATUS_OF[code];
      const status = usual === 422 && contract.inputErrorsAs400 === true ? 400 : usual;
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    const sorted = [...byStatus].sort(([a], [b]) => a - b);
    return Object.fromEntries(
      sorted.map(([status, codes]) => {
        const name = responseName(status, codes);
        const general = describe(status, codes);
        const own = describe(status, codes, operationId);
        keepExamples(codes);
        shared.set(name, { description: general, content: errorContent(codes) });
        const description = own === general ? {} : { description: own };
        return [String(status), { $ref: `#/components/responses/${name}`, ...description }];
      }),
    );
  };

  return { of, shared, examples };
};
