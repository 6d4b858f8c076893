import { expect, test } from "vitest";
import { refusalText } from "./authentication";

test("a sign-in that was refused because sign-up is closed names whom to ask", () => {
  expect(refusalText("sign_up_closed")).toMatch(/sign-up is closed\. Ask whoever runs this installation/);
});

test("a sign-in that was refused for an unknown reason is explained in general words", () => {
  expect(refusalText(undefined)).toMatch(/did not accept/);
  expect(refusalText("something_new")).toBe(refusalText(undefined));
});
