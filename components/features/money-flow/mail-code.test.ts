import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { mailCode, mailCodeAtOpening, readKeptCode } from "./mail-code";
import type { SentCode } from "./types";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;

const sentAt = (at: number, otpId = "otp_0198c0de000000000000000000000001"): SentCode => ({
  otpId,
  channel: "email",
  destination: "a…@example.test",
  expiresAt: new Date(at + 5 * MINUTE).toISOString(),
  resendAfter: new Date(at + MINUTE).toISOString(),
});

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => kept.set(name, text),
    removeItem: (name: string) => kept.delete(name),
  });
});
afterEach(() => vi.unstubAllGlobals());

test("an opening mails one code, also when its effect runs twice, and after a reload none", async () => {
  const ask = vi.fn(() => Promise.resolve(sentAt(NOW)));
  const request = { keptAs: "qt_1", ask };
  const answers = await Promise.all([
    mailCodeAtOpening(request, NOW),
    mailCodeAtOpening(request, NOW),
  ]);
  expect(answers[0]).toEqual(answers[1]);
  // A reload and a reopening find the record of the sent code in the tab.
  expect(await mailCodeAtOpening(request, NOW + MINUTE)).toEqual(answers[0]);
  expect(readKeptCode("qt_1", NOW + MINUTE)).toEqual(answers[0]);
  expect(ask).toHaveBeenCalledTimes(1);
});

test("a code that has expired is mailed anew at the next opening", async () => {
  const ask = vi.fn(() => Promise.resolve(sentAt(NOW)));
  await mailCodeAtOpening({ keptAs: "qt_1", ask }, NOW);
  await mailCodeAtOpening({ keptAs: "qt_1", ask }, NOW + 5 * MINUTE);
  expect(ask).toHaveBeenCalledTimes(2);
});

test("something edited has another id, so that the code of the earlier one is not offered for it", async () => {
  const ask = vi.fn(() => Promise.resolve(sentAt(NOW)));
  await mailCodeAtOpening({ keptAs: "qt_1", ask }, NOW);
  expect(readKeptCode("qt_2", NOW)).toBeNull();
  await mailCodeAtOpening({ keptAs: "qt_2", ask }, NOW);
  expect(ask).toHaveBeenCalledTimes(2);
});

test("a person may ask for another code, and a failed request is not kept", async () => {
  const ask = vi.fn(() => Promise.resolve(sentAt(NOW)));
  ask.mockRejectedValueOnce(new Error("no answer"));
  const request = { keptAs: "qt_1", ask };
  await expect(mailCodeAtOpening(request, NOW)).rejects.toThrow("no answer");
  expect(readKeptCode("qt_1", NOW)).toBeNull();
  await mailCodeAtOpening(request, NOW);
  await mailCode(request);
  expect(ask).toHaveBeenCalledTimes(3);
});
