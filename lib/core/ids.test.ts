import { expect, test } from "vitest";
import { firstIdAt, isId, newId } from "./ids";

test("an id has the prefix of its kind and is in lower case, as it was made", () => {
  const id = newId("globalAccount");
  expect(isId("globalAccount", id)).toBe(true);
  expect(isId("payout", id)).toBe(false);
  expect(isId("globalAccount", `ga_${id.slice(3).toUpperCase()}`)).toBe(false);
  expect(isId("globalAccount", `${id}0`)).toBe(false);
});

test("the first id of a time sorts before what is made from then on, and after what was made before", () => {
  const before = newId("auditEvent");
  const madeAt = Number.parseInt(before.slice(4, 17).replace("-", ""), 16);
  expect(firstIdAt("auditEvent", new Date(madeAt)) < before).toBe(true);
  expect(firstIdAt("auditEvent", new Date(madeAt + 1)) > before).toBe(true);
});
