import { expect, test } from "vitest";
import { actionWords } from "./action-words";

test.each([
  ["api_key.created", "API key created"],
  ["email.change_approved", "E-mail change approved"],
  ["global_account.funding_reversed", "Global account funding reversed"],
])("%s reads %s", (action, words) => {
  expect(actionWords(action)).toBe(words);
});
