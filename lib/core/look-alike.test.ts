import { expect, test } from "vitest";
import { findLookAlike } from "./look-alike";

const OWN = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const FAKE = "0x5aaE0000000000000000000000000000000bEaEd";

test("an address with the ends of a known one is flagged, in any case of letters", () => {
  expect(findLookAlike(FAKE, [OWN])).toBe(OWN);
});

test("the known address itself, other addresses and half-typed ones are not", () => {
  expect(findLookAlike(OWN.toLowerCase(), [OWN, FAKE])).toBeNull();
  expect(findLookAlike("0x000000000000000000000000000000000000dEaD", [OWN])).toBeNull();
  expect(findLookAlike("0x5aAe", [OWN])).toBeNull();
});
