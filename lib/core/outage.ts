export type Outage = "database" | "chain";

const ERRORS_MAX = 24;

/**
 * Prisma's codes for no connection, no free connection, a transaction that took too long, and a
 * conflict that may be repeated.
 */
const PRISMA_CODES = new Set("P1001 P1002 P1008 P1017 P2024 P2028 P2034 P2037".split(" "));
/** Kinds under which Prisma's driver adapter reports errors of PostgreSQL and of the socket. */
const ADAPTER_KINDS = new Set(
  "DatabaseNotReachable ConnectionClosed SocketTimeout TooManyConnections TransactionWriteConflict".split(
    " ",
  ),
);
/**
 * SQLSTATE codes of PostgreSQL: connection errors (08), no memory, disk or connections (53), the
 * server or the statement was stopped (57), input and output errors (58030), a transaction that was
 * ended by the server or may be repeated (25P03, 25P04, 40001, 40P01, 55P03), and a read-only
 * server (25006), as a standby is until it has taken over.
 */
const SQL_STATES = /^(?:08\w{3}|53\w{3}|57014|57P0\d|58030|25P0[34]|25006|40001|40P01|55P03)$/;
const SOCKET_CODES = new Set(
  "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENETDOWN ENOTFOUND EAI_AGAIN".split(
    " ",
  ),
);
const DRIVER_MESSAGES =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Connection ended|Client has encountered a connection error|Client was closed and is not queryable|Query read timeout|Cannot use a pool after calling end)/;

/**
 * JSON-RPC: internal error, resource not found or unavailable, limit exceeded (EIP-1474), and the
 * codes with which providers say "too many". `lib/chain/node-errors.ts` gives the errors of nodes
 * these codes.
 */
const RPC_CODES = new Set<unknown>([-32603, -32001, -32002, -32005, -32016, -32029, 429]);
const INTERNAL_ERROR = -32603;
const LIMIT_CODES = new Set<unknown>([-32005, -32016, -32029, 429]);
const STATE_MISSING = -32001;
const TOO_MANY_REQUESTS = 429;

const field = (value: object, name: string): unknown =>
  (value as Record<string, unknown>)[name];

/**
 * The error, its causes, and the errors that Prisma and `AggregateError` attach to it, with the
 * outermost first.
 */
const withCauses = (error: unknown): object[] => {
  const found: object[] = [];
  const waiting: unknown[] = [error];
  while (waiting.length > 0 && found.length < ERRORS_MAX) {
    const next = waiting.shift();
    if (typeof next !== "object" || next === null || found.includes(next)) continue;
    found.push(next);
    const meta = field(next, "meta");
    if (typeof meta === "object" && meta !== null)
      waiting.push(field(meta, "driverAdapterError"));
    waiting.push(field(next, "cause"));
    const several = field(next, "errors");
    if (Array.isArray(several)) waiting.push(...(several as unknown[]));
  }
  return found;
};

const isChainError = (error: object): boolean => {
  const name = field(error, "name");
  if (name === "HttpRequestError" || name === "WebSocketRequestError") return true;
  // Both viem and the platform have a `TimeoutError`; only viem's has a `shortMessage`.
  if (name === "TimeoutError") return typeof field(error, "shortMessage") === "string";
  if (name !== "RpcRequestError" || !RPC_CODES.has(field(error, "code"))) return false;
  // Some nodes report a revert as an internal error.
  return (
    field(error, "code") !== INTERNAL_ERROR || !/revert/i.test(String(field(error, "details")))
  );
};

const isDatabaseError = (error: object): boolean => {
  for (const code of [field(error, "code"), field(error, "originalCode")]) {
    if (typeof code !== "string") continue;
    if (PRISMA_CODES.has(code) || SQL_STATES.test(code) || SOCKET_CODES.has(code)) return true;
  }
  const kind = field(error, "kind");
  if (typeof kind === "string" && ADAPTER_KINDS.has(kind)) return true;
  if (field(error, "name") === "TimeoutError") return true;
  const message = field(error, "message");
  return typeof message === "string" && DRIVER_MESSAGES.test(message);
};

/**
 * The dependency whose outage caused an error; null when the request or this code is at fault. A
 * request that fails because of an outage is answered with 503 and may be sent again. This is the
 * only function that makes this decision.
 * @example
 * outageOf(Object.assign(new Error("the database system is starting up"), { code: "57P03" }))
 * // "database"
 */
export const outageOf = (error: unknown): Outage | null => {
  const errors = withCauses(error);
  // Chains are checked first, because their errors have socket errors as causes, which would look
  // like a database outage.
  if (errors.some(isChainError)) return "chain";
  return errors.some(isDatabaseError) ? "database" : null;
};

/**
 * The reason of an outage of a chain, as a sentence.
 * @param chain such as "Chain 1" or "A chain"
 */
export const chainTroubleOf = (error: unknown, chain: string): string => {
  const errors = withCauses(error);
  const codes = errors
    .filter((each) => field(each, "name") === "RpcRequestError")
    .map((each) => field(each, "code"));
  const isLimited =
    codes.some((code) => LIMIT_CODES.has(code)) ||
    errors.some((each) => field(each, "status") === TOO_MANY_REQUESTS);
  if (isLimited)
    return `${chain}'s node limits how many requests it answers, and this one was too many.`;
  if (codes.includes(STATE_MISSING))
    return `${chain}'s node does not have the block or state that was asked for.`;
  return `${chain} does not answer.`;
};
