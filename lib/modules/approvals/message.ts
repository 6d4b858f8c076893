interface ApprovalMessage {
  readonly approvalId: string;
  /** Origin of the service as browsers see it. */
  readonly publicUrl: string;
  readonly project: { readonly id: string; readonly name: string };
  /** Address that the person signs in with. */
  readonly person: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly expiresAt: Date;
}

/** Line breaks, invisible characters and those that turn the direction of writing. */
const HIDDEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index).toString(16).padStart(4, "0"))
    .map((unit) => `\\u${unit}`)
    .join("");

/** Puts a text that a caller chose on one visible line in quotes, so that it cannot look like a line of the message. */
export const quoted = (text: string): string => JSON.stringify(text).replace(HIDDEN, escaped);

/** The message that the wallet signs (EIP-191) and that the mail with the code shows. */
export const approvalMessage = (message: ApprovalMessage): string =>
  [
    `${message.publicUrl} asks for your approval of a change.`,
    "",
    message.title,
    ...message.lines.map((line) => `- ${line}`),
    "",
    `Project: ${quoted(message.project.name)} (${message.project.id})`,
    `Account: ${message.person}`,
    `Approval: ${message.approvalId}`,
    `Expires: ${message.expiresAt.toISOString()}`,
    "",
    "This approves exactly this change, once. It sends no transaction.",
  ].join("\n");
