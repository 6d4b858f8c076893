import { describe, expect, test } from "vitest";
import { isSameMailbox, mailboxOf, oncePerMailbox } from "./mailbox";

const EQUAL: readonly (readonly [string, string, string])[] = [
  ["case", "boss@example.test", "Boss@EXAMPLE.test"],
  ["a tag after a plus", "boss@example.test", "boss+2@example.test"],
  ["two tags", "boss+3@example.test", "boss+2+1@example.test"],
  ["dots at Gmail", "ada.lovelace@gmail.com", "adalovelace@gmail.com"],
  ["dots and a tag at Gmail", "a.d.a+x@gmail.com", "ada@gmail.com"],
  ["the two domains of Gmail", "ada@googlemail.com", "a.da@gmail.com"],
  ["the domains of Proton, and what they ignore", "a-d_a.l@protonmail.com", "adal@pm.me"],
  ["the domains of iCloud", "ada@me.com", "ada@icloud.com"],
  ["dots and hyphens at Yandex", "ada.l@ya.ru", "ada-l@yandex.com"],
  ["a domain in Unicode and in ASCII", "boss@bücher.example", "boss@xn--bcher-kva.example"],
  ["a domain of full-width letters", "boss@ｅｘａｍｐｌｅ.test", "boss@example.test"],
  ["an ideographic full stop in the domain", "boss@example。test", "boss@example.test"],
  ["full-width letters before the @", "ｂｏｓｓ@example.test", "boss@example.test"],
  ["composed and decomposed letters", "caf\u00e9@example.test", "cafe\u0301@example.test"],
  ["a trailing dot of the domain", "boss@example.test.", "boss@example.test"],
  ["spaces around", " boss@example.test ", "boss@example.test"],
];

const UNEQUAL: readonly (readonly [string, string, string])[] = [
  ["another local part", "boss@example.test", "boss2@example.test"],
  ["another domain", "boss@example.test", "boss@example.org"],
  ["a subdomain", "boss@mail.example.test", "boss@example.test"],
  [
    "dots where the provider counts them",
    "ada.lovelace@example.test",
    "adalovelace@example.test",
  ],
  ["hyphens at Gmail", "ada-l@gmail.com", "adal@gmail.com"],
  ["dots and hyphens at Proton and elsewhere", "ada.l@proton.me", "ada.l@example.test"],
  ["a domain that ends like Gmail's", "ada@notgmail.com", "ada@gmail.com"],
  ["look-alike letters of another script", "boss@example.test", "b\u043ess@example.test"],
  ["a plus in the domain part only", "boss@example.test", "boss@ex+ample.test"],
];

describe("one mailbox", () => {
  test.each(EQUAL)("%s makes no other person", (_, one, other) => {
    expect(mailboxOf(one)).toBe(mailboxOf(other));
    expect(isSameMailbox(one, other)).toBe(true);
  });
  test.each(UNEQUAL)("%s makes another person", (_, one, other) => {
    expect(mailboxOf(one)).not.toBe(mailboxOf(other));
  });
  test("the mailbox of a mailbox is itself, and a missing address is nobody's", () => {
    for (const [, ...addresses] of [...EQUAL, ...UNEQUAL])
      for (const address of addresses)
        expect(mailboxOf(mailboxOf(address))).toBe(mailboxOf(address));
    expect(isSameMailbox(null, null)).toBe(false);
    expect(isSameMailbox("boss@example.test", null)).toBe(false);
  });
  test("several addresses of one mailbox become the first of them", () => {
    const emails = ["boss@example.test", "ada@example.test", "Boss+2@example.test"];
    expect(oncePerMailbox(emails)).toEqual(["boss@example.test", "ada@example.test"]);
  });
  test("every combination of case, tag and spelling of one address is one mailbox", () => {
    const locals = ["ada.l", "a.d.a.l", "ADAL", "AdA.L"];
    const tags = ["", "+", "+1", "+votes.two"];
    const domains = ["gmail.com", "GMAIL.com", "googlemail.com", "googlemail.com."];
    const spelled = locals.flatMap((local) =>
      tags.flatMap((tag) => domains.map((domain) => `${local}${tag}@${domain}`)),
    );
    expect(new Set(spelled.map(mailboxOf))).toEqual(new Set(["adal@gmail.com"]));
  });
});
