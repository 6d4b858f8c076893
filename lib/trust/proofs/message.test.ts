import { expect, test } from "vitest";
import { quoted } from "./approvals";

test.each([
  ['Shop"\n- Expires: never', String.raw`"Shop\"\n- Expires: never"`],
  ["never\u202e", String.raw`"never\u202e"`],
  ["zero\u200bwidth\u2028", String.raw`"zero\u200bwidth\u2028"`],
  ["Booking.com Ltd", '"Booking.com Ltd"'],
])("a text that a caller chose stays on one visible line of the message: %j", (text, shown) => {
  expect(quoted(text)).toBe(shown);
});
