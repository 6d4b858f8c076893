import { expect, test } from "vitest";
import { storedPermit, storedSignedPermit } from "./permitted";

const ADDRESS = "0x1111111111111111111111111111111111111111";
const terms = { token: ADDRESS, owner: ADDRESS, spender: ADDRESS, value: "5", nonce: "0", deadline: "9" };

test("a permit that was kept before there was another standard is one of EIP-2612", () => {
  expect(storedPermit.parse(terms)).toMatchObject({ standard: "eip2612", value: 5n });
  expect(storedSignedPermit.parse({ ...terms, signature: "0x11" })).toMatchObject({
    standard: "eip2612",
    signature: "0x11",
  });
});

test("a permit for Permit2 is read with the contract that takes the tokens, and not without", () => {
  const permit = { ...terms, standard: "permit2", permit2: ADDRESS };
  expect(storedPermit.parse(permit)).toMatchObject({ standard: "permit2", permit2: ADDRESS });
  expect(storedSignedPermit.parse({ ...permit, signature: "0x11" })).toMatchObject({ standard: "permit2" });
  for (const broken of [
    { ...permit, permit2: undefined },
    { ...permit, standard: "other" },
  ]) {
    expect(storedPermit.safeParse(broken).success).toBe(false);
  }
});
