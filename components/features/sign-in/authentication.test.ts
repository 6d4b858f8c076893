import { expect, test } from "vitest";
import { credentialsOf, refusalText } from "./authentication";

test("a sign-in that was refused because sign-up is closed names whom to ask", () => {
  expect(refusalText("sign_up_closed")).toMatch(
    /sign-up is closed\. Ask whoever runs this installation/,
  );
});

test("a sign-in that was refused for an unknown reason is explained in general words", () => {
  expect(refusalText(undefined)).toMatch(/did not accept/);
  expect(refusalText("something_new")).toBe(refusalText(undefined));
});

test("a sign-in brings the invitation that was opened in this tab, and none where none was", () => {
  const signed = { message: "m", signature: "0x1" };
  expect(credentialsOf(signed, "token")).toEqual({ ...signed, invitation: "token" });
  expect(credentialsOf(signed, null)).toEqual(signed);
  expect(credentialsOf(signed, "")).toEqual(signed);
});
