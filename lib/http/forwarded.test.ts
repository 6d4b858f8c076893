import { expect, test } from "vitest";
import { passedHeaders } from "./input";

const passed = {
  client: "203.0.113.9",
  publicUrl: "https://pay.example:8443",
  path: "/activity?x=1",
  bodyBytes: 0,
  page: { nonce: "ours", policy: "script-src 'nonce-ours'" },
};

test("the pages learn of the caller from us alone", () => {
  const headers = passedHeaders(
    {
      host: "evil.example",
      forwarded: "for=6.6.6.6",
      "x-forwarded-for": "6.6.6.6",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "ftp",
      "x-forwarded-port": "1",
      "x-real-ip": "6.6.6.6",
      "x-causeway-path": "//evil.example",
      "x-causeway-nonce": "theirs",
      "content-security-policy": "script-src 'nonce-theirs'",
      "content-security-policy-report-only": "script-src 'nonce-theirs'",
      "transfer-encoding": "chunked",
      connection: "upgrade",
      "accept-encoding": "br",
      upgrade: "websocket",
      cookie: "a=1",
      "set-cookie": ["b=2"],
    },
    passed,
  );
  expect(headers).toEqual({
    cookie: "a=1",
    "set-cookie": ["b=2"],
    host: "pay.example:8443",
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-host": "pay.example:8443",
    "x-forwarded-proto": "https",
    "x-causeway-path": "/activity?x=1",
    "x-causeway-nonce": "ours",
    "content-security-policy": "script-src 'nonce-ours'",
  });
});

test("a body goes on with its real length", () => {
  const headers = passedHeaders(
    { "content-length": "7", "content-type": "text/plain" },
    { ...passed, bodyBytes: 3, page: null },
  );
  expect(headers).toMatchObject({ "content-length": "3", "content-type": "text/plain" });
  expect(headers).not.toHaveProperty("x-causeway-nonce");
});
