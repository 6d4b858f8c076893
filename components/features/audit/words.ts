const ABBREVIATIONS: Readonly<Record<string, string>> = {
  api: "API",
  email: "e-mail",
  privacy: "private",
};

/**
 * An action of the audit log in words.
 * @example actionWords("api_key.created") // "API key created"
 */
export const actionWords = (action: string): string => {
  const words = action
    .split(/[._]/)
    .map((word) => ABBREVIATIONS[word] ?? word)
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

interface SubjectView {
  /** The kind of the object, shown when it has no name. */
  readonly word: string;
  /** The object's page; null when it has none. */
  readonly href: string | null;
}

const PREFIX = /^[a-z]+(?=_)/;

const WORDS: Readonly<Record<string, string>> = {
  prj: "Project",
  usr: "Person",
  ses: "Session",
  key: "API key",
  wal: "Wallet",
  qt: "Quote",
  op: "Operation",
  tr: "Transfer",
  po: "Payout",
  sch: "Schedule",
  ga: "Account",
  ltx: "Ledger transaction",
  fnd: "Funding",
  pw: "Private wallet",
  we: "Webhook endpoint",
  nch: "Chat channel",
  dlv: "Delivery",
  ct: "Contact",
  apr: "Approval",
  dec: "Decision",
  inv: "Invitation",
  pol: "Policy",
  evl: "Evaluation",
  psk: "Passkey",
  totp: "Authenticator app",
};

const PAGES: Readonly<Record<string, string>> = {
  op: "/activity/",
  po: "/payouts/",
  sch: "/payouts/schedules/",
  ga: "/accounts/",
  we: "/webhooks/",
};

/**
 * The kind and the page of an object in the audit log, from its id.
 * @example subjectView("po_0198c2b4-…") // { word: "Payout", href: "/payouts/po_0198c2b4-…" }
 */
export const subjectView = (id: string): SubjectView => {
  const prefix = PREFIX.exec(id)?.[0] ?? "";
  const page = PAGES[prefix];
  return { word: WORDS[prefix] ?? id, href: page === undefined ? null : `${page}${id}` };
};
