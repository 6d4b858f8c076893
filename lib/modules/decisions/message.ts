import { quoted } from "@/lib/modules/approvals/service";
import type { DecisionRequest, Verdict } from "./decision";

type Described = Pick<DecisionRequest, "id" | "projectId" | "title" | "lines" | "maker" | "expiresAt" | "digest">;

const listed = ({ title, lines }: Described): string[] => [title, ...lines.map((line) => `- ${line}`)];

/** The lines of the mail with the one-time code. The same code is good for either decision. */
export const codeLines = (request: Described): string[] => [
  ...listed(request),
  `Asked for by ${request.maker}`,
  `Request ${request.id}. The code is good for one vote on it.`,
];

/** The message that the voter's wallet signs (EIP-191). */
export const voteMessage = (
  request: Described,
  { verdict, publicUrl, person }: { readonly verdict: Verdict; readonly publicUrl: string; readonly person: string },
): string =>
  [
    `${publicUrl} asks for your vote. You ${verdict === "approve" ? "APPROVE" : "DECLINE"}:`,
    "",
    ...listed(request),
    "",
    `Asked for by: ${request.maker}`,
    `Project: ${request.projectId}`,
    `Account: ${person}`,
    `Request: ${request.id}`,
    `Digest: 0x${Buffer.from(request.digest).toString("hex")}`,
    `Expires: ${request.expiresAt.toISOString()}`,
    "",
    "This is one vote on exactly this request. It sends no transaction.",
  ].join("\n");

/** The mail to everybody who may decide. */
export const noticeMail = (
  request: Described & Pick<DecisionRequest, "required">,
  { publicUrl, project }: { readonly publicUrl: string; readonly project: string },
): { readonly subject: string; readonly text: string } => ({
  subject: "A payment waits for your approval",
  text: [
    `In the project ${quoted(project)} this waits for approval:`,
    "",
    ...listed(request),
    "",
    `Asked for by: ${request.maker}`,
    `Approvals needed: ${String(request.required.count)}`,
    `It ends by itself at ${request.expiresAt.toISOString()}; until it is approved no money moves.`,
    "",
    `Read it and decide in the inbox: ${publicUrl}/inbox`,
    "",
    `Choose whether you get this mail in the settings: ${publicUrl}/settings#notifications`,
  ].join("\n"),
});
