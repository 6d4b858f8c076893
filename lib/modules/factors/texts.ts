import { quoted, type Change } from "@/lib/modules/approvals/service";
import type { Passkey } from "./passkey";

export const addTotpChange: Change = {
  kind: "totp.add",
  title: "Add an authenticator app",
  lines: ["Codes of the app approve payments and changes of your account from then on"],
  values: {},
};

export const removeTotpChange = (id: string): Change => ({
  kind: "totp.remove",
  title: "Remove the authenticator app",
  lines: ["Its codes and its recovery codes approve nothing from then on"],
  values: { id },
});

export const renewRecoveryCodesChange = (id: string): Change => ({
  kind: "recovery_codes.renew",
  title: "Make ten new recovery codes",
  lines: ["The recovery codes of now approve nothing from then on"],
  values: { id },
});

export const addPasskeyChange = (name: string): Change => ({
  kind: "passkey.add",
  title: "Add a passkey",
  lines: [`Name: ${quoted(name)}`, "It signs in, and approves payments and changes of your account from then on"],
  values: { name },
});

export const removePasskeyChange = ({ id, name }: Passkey): Change => ({
  kind: "passkey.remove",
  title: "Remove a passkey",
  lines: [`Name: ${quoted(name)}`, `Passkey: ${id}`],
  values: { id },
});

/** Mail about a change of what the person approves with. */
export const factorNotice = (what: string, publicUrl: string): { readonly subject: string; readonly text: string } => ({
  subject: `Your Causeway account: ${what}`,
  text: [
    `At ${publicUrl}: ${what}.`,
    "",
    "If this was you, do nothing.",
    `If not, look at ${publicUrl}/settings#sign-in at once, end all other sessions, and tell the operator of your Causeway.`,
  ].join("\n"),
});
