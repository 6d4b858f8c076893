import { expect, test } from "vitest";
import { isId, newId } from "./ids";

test("an id has the prefix of its kind and is in lower case, as it was made", () => {
  const id = newId("globalAccount");
  expect(isId("globalAccount", id)).toBe(true);
  expect(isId("payout", id)).toBe(false);
  expect(isId("globalAccount", `ga_${id.slice(3).toUpperCase()}`)).toBe(false);
  expect(isId("globalAccount", `${id}0`)).toBe(false);
});
