import { HttpRequestError, RpcRequestError, TimeoutError, UnknownRpcError } from "viem";
import { describe, expect, test } from "vitest";
import { outageOf } from "./outage";

const withCode = (code: string, message = "x"): Error =>
  Object.assign(new Error(message), { code });
const prisma = (cause: object): Error =>
  Object.assign(new Error("Raw query failed."), {
    name: "PrismaClientKnownRequestError",
    code: "P2010",
    meta: { driverAdapterError: Object.assign(new Error("DriverAdapterError"), { cause }) },
  });

const url = "http://127.0.0.1:9";
const body = { method: "eth_blockNumber" };

describe("an outage of the database", () => {
  test.each<[string, unknown]>([
    ["57P03 of the driver", withCode("57P03", "the database system is starting up")],
    [
      "57P03 inside Prisma's raw query",
      prisma({ kind: "postgres", originalCode: "57P03", code: "57P03" }),
    ],
    [
      "57P01 inside Prisma's raw query",
      prisma({ kind: "postgres", originalCode: "57P01", code: "57P01" }),
    ],
    ["57P02", withCode("57P02")],
    ["a refused connection", withCode("ECONNREFUSED")],
    [
      "a refused connection on both addresses",
      new AggregateError([withCode("ECONNREFUSED"), withCode("ECONNREFUSED")]),
    ],
    ["a reset connection", withCode("ECONNRESET")],
    ["a broken pipe", withCode("EPIPE")],
    ["a name that is not resolved for now", withCode("EAI_AGAIN")],
    ["Prisma: not reachable", withCode("P1001")],
    ["Prisma: connection closed", withCode("P1017")],
    ["Prisma: no free connection", withCode("P2024")],
    ["Prisma: transaction not begun or over its time", withCode("P2028")],
    ["Prisma: conflict", withCode("P2034")],
    ["Prisma's adapter: connection closed", prisma({ kind: "ConnectionClosed" })],
    [
      "Prisma's adapter: too many connections",
      prisma({ kind: "TooManyConnections", originalCode: "53300" }),
    ],
    ["a time-out", new DOMException("The operation timed out.", "TimeoutError")],
    ["no free connection in the pool", new Error("timeout exceeded when trying to connect")],
    ["the server went away", new Error("Connection terminated unexpectedly")],
    [
      "a connection that cannot be used",
      new Error("Client has encountered a connection error and is not queryable"),
    ],
    ["no answer to a query", new Error("Query read timeout")],
    [
      "a full disk",
      withCode("53100", 'could not extend file "base/1/2": No space left on device'),
    ],
    [
      "a full disk inside Prisma's",
      prisma({ kind: "postgres", originalCode: "53100", code: "53100" }),
    ],
    ["no memory", withCode("53200")],
    ["too many connections", withCode("53300")],
    ["a statement over its time", withCode("57014")],
    ["a lock that was not to be had", withCode("55P03")],
    ["a transaction that idled for too long", withCode("25P03")],
    ["a deadlock", withCode("40P01")],
    ["a standby that takes over", withCode("25006")],
    ["far down", new Error("a", { cause: new Error("b", { cause: withCode("08006") }) })],
  ])("%s", (_, error) => {
    expect(outageOf(error)).toBe("database");
  });
});

describe("an outage of a chain", () => {
  const rpcError = (code: number): RpcRequestError =>
    new RpcRequestError({ url, body, error: { code, message: "no" } });
  test.each<[string, unknown]>([
    ["HTTP 429", new HttpRequestError({ url, body, status: 429 })],
    [
      "a refused connection",
      new HttpRequestError({ url, body, cause: withCode("ECONNREFUSED") }),
    ],
    ["silence", new TimeoutError({ url, body })],
    ["JSON-RPC: limit exceeded", new UnknownRpcError(rpcError(-32005))],
    ["JSON-RPC: 429", new UnknownRpcError(rpcError(429))],
    ["JSON-RPC: internal error", rpcError(-32603)],
  ])("%s", (_, error) => {
    expect(outageOf(new Error("the call failed", { cause: error }))).toBe("chain");
  });
  test("is not what a call says that the node did answer", () => {
    expect(outageOf(rpcError(3))).toBeNull();
  });
});

describe("no outage", () => {
  const circle: Error = new Error("a");
  circle.cause = circle;
  test.each<[string, unknown]>([
    ["a bug", new TypeError("x is not a function")],
    ["a unique violation", withCode("P2002")],
    ["a unique violation of the driver", withCode("23505")],
    ["a table that is missing", withCode("42P01")],
    ["a circle of causes", circle],
    ["nothing", undefined],
    ["a text", "timeout exceeded when trying to connect"],
  ])("%s", (_, error) => {
    expect(outageOf(error)).toBeNull();
  });
});
