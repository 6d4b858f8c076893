import { getPolicies } from "@/lib/contracts/policies";
import { expect, test } from "./support/test";
import { approveChange } from "./support/approve-change";
import { checkLooks, settle } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

test("a template fills the form beside the dry run, and nothing is saved before it was reviewed", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await page.goto("/settings/policies");
  const templates = page.getByRole("list", { name: "Templates" });
  await expect(templates.getByRole("listitem")).toHaveCount(3);
  await expect(templates).toContainText("At most 50,000.00 USD a day");
  await settle(page);
  await checkLooks(page, "templates of policies");
  await templates.getByRole("link", { name: /A cap for each day/ }).click();

  const form = page.getByRole("form", { name: "Limits" });
  await expect(form.getByLabel("Most in a day (USD)", { exact: true })).toHaveValue("50000");
  await expect(page.getByRole("region", { name: "Try a movement" })).toBeVisible();
  await expect(page).toHaveURL(/\/settings\/policies\/project$/);
  expect((await project.api.call(getPolicies)).policies).toEqual([]);
  // It is a draft like a typed one.
  await form.getByLabel("Most in a day (USD)", { exact: true }).fill("40,000");
  await page.reload();
  await expect(form.getByLabel("Most in a day (USD)", { exact: true })).toHaveValue("40,000");

  await form.getByRole("button", { name: "Save limits" }).click();
  await approveChange(page, project);
  await expect(page.getByRole("list", { name: "Limits", exact: true })).toContainText(
    "At most 40,000.00 USD a day",
  );
  // Another template keeps the limits that are stored.
  await page.goto("/settings/policies");
  await templates.getByRole("link", { name: /New recipients wait/ }).click();
  await expect(form.getByRole("radio", { name: /^Approved contacts/ })).toBeChecked();
  await expect(form.getByLabel("Most in a day (USD)", { exact: true })).toHaveValue("40000");
});
