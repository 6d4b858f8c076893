import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  dropKeptApproval,
  keepApproval,
  markKeptApproval,
  openKeptApproval,
  readKeptApproval,
} from "./kept-approval";

/** A storage as browsers have it: its names are its own keys. */
const storage = (): Storage =>
  Object.create({
    getItem(name: string): string | null {
      return (this as Record<string, string>)[name] ?? null;
    },
    setItem(name: string, value: string): void {
      (this as Record<string, string>)[name] = value;
    },
    removeItem(name: string): void {
      Reflect.deleteProperty(this, name);
    },
  }) as Storage;

beforeEach(() => vi.stubGlobal("sessionStorage", storage()));
afterEach(() => vi.unstubAllGlobals());

const OWNER = "usr_1 prj_1";
const kept = (expiresAt = new Date(Date.now() + 600_000)) => ({
  owner: OWNER,
  asked: {
    approvalId: "apr_1",
    message: "Invite Ada",
    expiresAt: expiresAt.toISOString(),
    proofs: ["code" as const],
  },
  input: { email: "ada@example.test" },
  open: true,
});

test("an approval that waits is found again by its person in its project, and by nobody else", () => {
  keepApproval("member.invite", kept());
  expect(readKeptApproval("member.invite", OWNER)).toMatchObject({
    input: { email: "ada@example.test" },
  });
  expect(readKeptApproval("member.invite", "usr_2 prj_1")).toBeNull();
  expect(readKeptApproval("member.invite", "usr_1 prj_2")).toBeNull();
  expect(readKeptApproval("member.role usr_3", OWNER)).toBeNull();
});

test("one that has expired, or was carried out, is not", () => {
  keepApproval("member.invite", kept(new Date(Date.now() - 1)));
  expect(readKeptApproval("member.invite", OWNER)).toBeNull();
  keepApproval("member.invite", kept());
  dropKeptApproval("member.invite");
  expect(readKeptApproval("member.invite", OWNER)).toBeNull();
});

test("a dialog opens by itself for its object, and not after it was closed", () => {
  keepApproval("member.role usr_3", kept());
  expect(openKeptApproval("member.role ", OWNER)).toBe("usr_3");
  expect(openKeptApproval("member.role ", "usr_2 prj_1")).toBeNull();
  markKeptApproval("member.role usr_3", false);
  expect(openKeptApproval("member.role ", OWNER)).toBeNull();
  expect(readKeptApproval("member.role usr_3", OWNER)).not.toBeNull();
});
