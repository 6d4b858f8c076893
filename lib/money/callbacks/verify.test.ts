import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { acrossCallbacks } from "@/lib/adapters/across/callbacks";
import { relayCallbacks } from "@/lib/adapters/relay/callbacks";
import { type CallbackSenders, type SentCallback, verifyCallback } from "./verify";

const shared = "an-equality-secret-of-some-length";
const relay = "relay-api-key-1234567890";
const across = `whsec_${Buffer.from("across signing key of 32 bytes!!").toString("base64")}`;
const sendersOf = (secrets: {
  shared: string | null;
  relay: string | null;
  across: string | null;
}): CallbackSenders => ({
  shared: secrets.shared,
  providers: [
    { ...relayCallbacks, secret: secrets.relay },
    { ...acrossCallbacks, secret: secrets.across },
  ],
});
const all = sendersOf({ shared, relay, across });
const now = new Date("2026-11-22T10:00:00Z");
const nowSeconds = String(now.getTime() / 1000);
const body = '{"id":"evt_1","type":"x"}';

const sent = (headers: Readonly<Record<string, string>>, text = body): SentCallback => ({
  raw: Buffer.from(text),
  header: (name) => headers[name] ?? null,
});
const hmac = (key: string, text: string): string =>
  createHmac("sha256", key).update(text).digest("hex");
const relayHeaders = (timestamp: string, key = relay) => ({
  "x-signature-timestamp": timestamp,
  "x-signature-sha256": hmac(key, `${timestamp}.${body}`),
});
const standardHeaders = (secret: string, at = now) => ({
  "webhook-id": "msg_1",
  "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
  "webhook-signature": new Webhook(secret).sign("msg_1", at, body),
});
const minutesAway = (minutes: number): Date => new Date(now.getTime() + minutes * 60_000);
const refusal = expect.objectContaining({ code: "invalid_signature" }) as Error;

describe("each scheme recognises its sender", () => {
  test.each([
    ["equality", { "x-signature": shared }],
    ["hmac", { "x-signature": `sha256=${hmac(shared, body)}` }],
    ["relay", relayHeaders(nowSeconds)],
    ["relay", relayHeaders(String(now.getTime()))],
    ["across", standardHeaders(across)],
    ["standard", standardHeaders(Buffer.from(shared).toString("base64"))],
  ] as const)("%s", (scheme, headers) => {
    expect(verifyCallback(all, sent(headers), now)).toBe(scheme);
  });

  test("a provider without a secret of its own signs with the shared one", () => {
    const secrets = sendersOf({ shared, relay: null, across: null });
    expect(verifyCallback(secrets, sent(relayHeaders(nowSeconds, shared)), now)).toBe("relay");
  });

  test("a shared secret that begins with whsec_ is base64", () => {
    expect(
      verifyCallback(
        sendersOf({ shared: across, relay: null, across: null }),
        sent(standardHeaders(across)),
        now,
      ),
    ).toBe("standard");
  });
});

describe("each scheme refuses", () => {
  test.each([
    ["nothing at all", {}],
    ["another secret", { "x-signature": `${shared}x` }],
    ["an empty signature", { "x-signature": "" }],
    ["an HMAC of another body", { "x-signature": `sha256=${hmac(shared, `${body} `)}` }],
    ["an HMAC under another key", { "x-signature": `sha256=${hmac("other", body)}` }],
    ["an HMAC that is cut", { "x-signature": `sha256=${hmac(shared, body).slice(0, 20)}` }],
    ["Relay's secret in the wrong scheme", { "x-signature": relay }],
    ["Relay under the shared key, where Relay has its own", relayHeaders(nowSeconds, shared)],
    ["Relay, six minutes old", relayHeaders(String(minutesAway(-6).getTime() / 1000))],
    ["Relay, six minutes ahead", relayHeaders(String(minutesAway(6).getTime() / 1000))],
    ["Relay without a time", { "x-signature-sha256": hmac(relay, `.${body}`) }],
    [
      "Relay with another time than was signed",
      { ...relayHeaders(nowSeconds), "x-signature-timestamp": "1795341601" },
    ],
    ["Standard Webhooks, six minutes old", standardHeaders(across, minutesAway(-6))],
    [
      "Standard Webhooks under an unknown key",
      standardHeaders(Buffer.from("else").toString("base64")),
    ],
    [
      "Standard Webhooks with another id than was signed",
      { ...standardHeaders(across), "webhook-id": "msg_2" },
    ],
    [
      "Standard Webhooks that are no signature",
      { ...standardHeaders(across), "webhook-signature": "v1," },
    ],
  ] as const)("%s", (_, headers) => {
    expect(() => verifyCallback(all, sent(headers), now)).toThrow(refusal);
  });

  test("a signature with a time is good for exactly five minutes", () => {
    expect(verifyCallback(all, sent(standardHeaders(across, minutesAway(-5))), now)).toBe(
      "across",
    );
    const tooOld = new Date(minutesAway(-5).getTime() - 1000);
    expect(() => verifyCallback(all, sent(standardHeaders(across, tooOld)), now)).toThrow(
      refusal,
    );
  });
});

test("without any secret a callback is taken as unverified, and a provider's own secret still counts", () => {
  const none = { shared: null, relay: null, across: null };
  expect(verifyCallback(sendersOf(none), sent({}), now)).toBe("unverified");
  expect(verifyCallback(sendersOf(none), sent({ "x-signature": "whatever" }), now)).toBe(
    "unverified",
  );
  expect(verifyCallback(sendersOf(none), sent(standardHeaders(across)), now)).toBe(
    "unverified",
  );
  expect(() =>
    verifyCallback(sendersOf({ ...none, relay }), sent(relayHeaders(nowSeconds, "other")), now),
  ).toThrow(refusal);
});
