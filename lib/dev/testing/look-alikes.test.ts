import { expect, test } from "vitest";
import { lookAlikes } from "./look-alikes";

const ID = "op_019a0000-1111-7222-8333-444455556666";

test("ids, addresses and times become look-alikes; equal ones stay equal", () => {
  const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
  const seen = {
    id: ID,
    again: ID,
    address,
    at: "2031-05-06T07:08:09.123Z",
    later: "2031-05-06T07:08:19.123Z",
  };
  const like = lookAlikes(seen);
  expect(like.id).toMatch(/^op_01980000-0000-7000-8000-\d{12}$/);
  expect(like.again).toBe(like.id);
  expect(like.address).toMatch(/^0x[0-9a-fA-F]{40}$/);
  expect(like.address).not.toBe(address);
  expect([like.at, like.later]).toEqual([
    "2026-01-01T12:00:00.000Z",
    "2026-01-01T12:00:10.000Z",
  ]);
});

test("secrets, codes and addresses of people do not stay", () => {
  const like = lookAlikes({
    secret: "cw_test_0123456789abcdefghijklmnop",
    signing: "whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
    refreshToken: "ses_abc.def",
    mnemonic: "one two three",
    otp: "654321",
    to: "ada@example.test",
    masked: "a***@example.test",
  });
  const text = JSON.stringify(like);
  for (const secret of ["0123456789", "MDEy", "ses_abc", "one two", "654321", "example.test"])
    expect(text).not.toContain(secret);
});

test("words stay: the code of an error and the policy of a key are no one-time codes", () => {
  expect(lookAlikes({ code: "not_found", otp: "exempt", amount: "12.5" })).toEqual({
    code: "not_found",
    otp: "exempt",
    amount: "12.5",
  });
});
