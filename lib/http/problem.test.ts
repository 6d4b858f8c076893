import { HttpRequestError } from "viem";
import { describe, expect, test } from "vitest";
import { DomainError, ERROR_CODES, invalidRequest } from "@/lib/core/errors";
import { STATUS_OF, toAnswer, toDomainError, toResponse } from "./problem";

const bodyOf = (error: unknown): Record<string, unknown> =>
  JSON.parse(toAnswer(toDomainError(error), "req_1").body) as Record<string, unknown>;

describe("the error body", () => {
  test("every code has a status of 4xx or 5xx", () => {
    for (const code of ERROR_CODES) expect(STATUS_OF[code]).toBeGreaterThanOrEqual(400);
  });

  test("names message, code, request and every field at fault", () => {
    expect(
      bodyOf(invalidRequest([{ path: "from.0.amount", message: "must be above zero" }])),
    ).toEqual({
      message: "must be above zero",
      code: "invalid_request",
      requestId: "req_1",
      details: [{ path: "from.0.amount", message: "must be above zero" }],
      docsUrl: "/api/errors/invalid_request",
    });
  });

  test("carries further public fields, which cannot replace its own", () => {
    const error = new DomainError("quote_price_moved", "The price moved.", {
      extra: { quote: { id: 1 }, code: "x" },
    });
    expect(bodyOf(error)).toMatchObject({ code: "quote_price_moved", quote: { id: 1 } });
  });

  test("says nothing of an unknown error", () => {
    const body = bodyOf(new Error("password=hunter2 at 10.0.0.1"));
    expect(body.code).toBe("internal_error");
    expect(JSON.stringify(body)).not.toContain("hunter2");
  });

  test("an unreachable database is 503 with Retry-After, however deep the cause lies", () => {
    const error = new Error("query failed", {
      cause: Object.assign(new Error("gone"), { code: "57P01" }),
    });
    const answer = toAnswer(toDomainError(error), "req_1");
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("2");
    expect(
      toDomainError(new Error("x", { cause: { kind: "DatabaseNotReachable" } })).code,
    ).toBe("service_unavailable");
    expect(toDomainError(Object.assign(new Error("unique"), { code: "P2002" })).code).toBe(
      "internal_error",
    );
  });

  test("a chain that does not answer is 503 with Retry-After, also where nobody saw it coming", () => {
    const error = new Error("read failed", {
      cause: new HttpRequestError({ url: "http://x", status: 429 }),
    });
    const answer = toAnswer(toDomainError(error), "req_1");
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "2"]);
    expect(bodyOf(error).code).toBe("chain_unavailable");
    const known = toAnswer(
      new DomainError("chain_unavailable", "Chain 1 does not answer."),
      "req_1",
    );
    expect(known.headers["retry-after"]).toBe("2");
  });

  test("422 becomes 400 on a route whose input errors are all 400, other codes stay", () => {
    const unsupported = new DomainError("unsupported_token", "No such token.");
    const gone = new DomainError("quote_expired", "Too late.");
    expect(toAnswer(unsupported, "req_1").status).toBe(422);
    expect(toAnswer(unsupported, "req_1", { inputErrorsAs400: true }).status).toBe(400);
    expect(toAnswer(gone, "req_1", { inputErrorsAs400: true }).status).toBe(410);
  });

  test("401 challenges, and the response names the request", () => {
    const response = toResponse(new DomainError("unauthorized", "Who are you?"), "req_9");
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
    expect(response.headers.get("x-request-id")).toBe("req_9");
  });
});
