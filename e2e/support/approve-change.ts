import { expect, type Page } from "@playwright/test";
import { typeCode } from "./person";
import type { TestProject } from "./project";

/** Types the mailed code of the change that is shown, and approves it. */
export const approveChange = async (page: Page, project: TestProject): Promise<void> => {
  await page.getByRole("button", { name: "Send code" }).click();
  await expect(page.getByLabel("One-time code")).toBeVisible();
  await typeCode(page, await project.code());
};
