import { describe, expect, test } from "vitest";
import type { KnownAddress } from "@/lib/core/look-alike";
import { recipientView, saidByNotes } from "./recipient";

const address = (middle: string): string => `0xabcd${middle.repeat(32)}1234`;
const OWN: KnownAddress = { address: address("1"), name: "Treasury", as: "own" };
const ADA: KnownAddress = {
  address: `0x7777${"2".repeat(32)}8888`,
  name: "Ada",
  as: "contact",
};
const BEFORE: KnownAddress = {
  address: `0x9999${"3".repeat(32)}9999`,
  name: "3 times",
  as: "earlier",
};
const KNOWN = [BEFORE, ADA, OWN];

describe("a recipient", () => {
  test("is nobody until the address is whole and its checksum right", () => {
    expect(recipientView("", KNOWN).as).toBe("none");
    expect(recipientView(ADA.address.slice(0, -1), KNOWN).as).toBe("none");
    expect(recipientView("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", KNOWN).as).toBe("none");
  });

  test("is known however its letters are written, as own before contact before earlier", () => {
    expect(
      recipientView(` ${OWN.address.toUpperCase().replace("0X", "0x")} `, KNOWN),
    ).toMatchObject({
      as: "own",
      name: "Treasury",
    });
    expect(
      recipientView(ADA.address, [{ ...ADA, as: "earlier", name: "once" }, ...KNOWN]),
    ).toMatchObject({
      as: "contact",
      name: "Ada",
    });
    expect(recipientView(BEFORE.address, KNOWN)).toMatchObject({
      as: "earlier",
      lookAlike: null,
    });
  });

  test("to whom nothing was ever sent is new", () => {
    expect(recipientView(`0x1111${"4".repeat(32)}2222`, KNOWN)).toMatchObject({
      as: "new",
      lookAlike: null,
    });
  });
});

test("a first payment is said by the notes or by the service's warning, and never by both", () => {
  const fresh = recipientView(`0x1111${"4".repeat(32)}2222`, KNOWN);
  expect([...saidByNotes(fresh, true)]).toEqual(["first_payment"]);
  // The notes call nobody new before everything is known, and nobody who is in the address book.
  expect([...saidByNotes(fresh, false)]).toEqual([]);
  expect([...saidByNotes(recipientView(ADA.address, KNOWN), true)]).toEqual([]);
  const fake = ADA.address.slice(0, 6) + "5".repeat(32) + ADA.address.slice(-4);
  expect([...saidByNotes(recipientView(fake, KNOWN), true)]).toEqual([]);
});

describe("an address made to be mistaken", () => {
  test("for a wallet, a contact or an earlier recipient is found, and says for which", () => {
    for (const known of KNOWN) {
      const fake = known.address.slice(0, 6) + "5".repeat(32) + known.address.slice(-4);
      expect(recipientView(fake, KNOWN)).toMatchObject({ as: "new", lookAlike: known });
    }
  });

  test("is still found when something went there once by mistake, and does not taint the right one", () => {
    const fake = `0x7777${"5".repeat(32)}8888`;
    const known = [...KNOWN, { address: fake, name: "once", as: "earlier" as const }];
    expect(recipientView(fake, known)).toMatchObject({ as: "earlier", lookAlike: ADA });
    expect(recipientView(ADA.address, known)).toMatchObject({ as: "contact", lookAlike: null });
  });

  test("is found when it was put into the address book beside the right one", () => {
    const fake = {
      address: `0x7777${"5".repeat(32)}8888`,
      name: "Ada 2",
      as: "contact" as const,
    };
    expect(recipientView(fake.address, [...KNOWN, fake])).toMatchObject({
      as: "contact",
      lookAlike: ADA,
    });
  });
});
