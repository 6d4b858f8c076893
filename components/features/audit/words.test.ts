import { expect, test } from "vitest";
import { ID_PREFIXES } from "@/lib/core/ids";
import { actionWords, subjectView } from "./words";

test.each([
  [`${ID_PREFIXES.payout}_1`, { word: "Payout", href: "/payouts/po_1" }],
  [`${ID_PREFIXES.globalAccount}_1`, { word: "Account", href: "/accounts/ga_1" }],
  [`${ID_PREFIXES.apiKey}_1`, { word: "API key", href: null }],
  ["31337", { word: "31337", href: null }],
])("%s is shown by its kind, with its page where it has one", (id, view) => {
  expect(subjectView(id)).toEqual(view);
});

test.each([
  ["api_key.created", "API key created"],
  ["email.change_approved", "E-mail change approved"],
  ["global_account.funding_reversed", "Global account funding reversed"],
])("%s reads %s", (action, words) => {
  expect(actionWords(action)).toBe(words);
});
