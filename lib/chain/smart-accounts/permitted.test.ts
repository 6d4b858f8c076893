import { expect, test } from "vitest";
import { storedPermit, storedSignedPermit } from "./permits";

const ADDRESS = "0x1111111111111111111111111111111111111111";
const terms = {
  token: ADDRESS,
  owner: ADDRESS,
  spender: ADDRESS,
  value: "5",
  nonce: "0",
  deadline: "9",
};

test("a permit of EIP-2612 is read, and one that names no standard is not", () => {
  const permit = { ...terms, standard: "eip2612" };
  expect(storedPermit.parse(permit)).toMatchObject({ standard: "eip2612", value: 5n });
  expect(storedSignedPermit.parse({ ...permit, signature: "0x11" })).toMatchObject({
    standard: "eip2612",
    signature: "0x11",
  });
  expect(storedPermit.safeParse(terms).success).toBe(false);
});

test("a permit for Permit2 is read with the contract that takes the tokens, and not without", () => {
  const permit = { ...terms, standard: "permit2", permit2: ADDRESS };
  expect(storedPermit.parse(permit)).toMatchObject({ standard: "permit2", permit2: ADDRESS });
  expect(storedSignedPermit.parse({ ...permit, signature: "0x11" })).toMatchObject({
    standard: "permit2",
  });
  for (const broken of [
    { ...permit, permit2: undefined },
    { ...permit, standard: "other" },
  ]) {
    expect(storedPermit.safeParse(broken).success).toBe(false);
  }
});
