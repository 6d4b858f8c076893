import {
  ArrowLeftRight,
  Bell,
  BookOpenText,
  BookUser,
  Coins,
  Download,
  HandCoins,
  House,
  Inbox,
  KeyRound,
  Landmark,
  List,
  Mail,
  Radio,
  ScrollText,
  Send,
  Settings,
  ShieldCheck,
  Users,
  VenetianMask,
  Wallet,
  Webhook,
  type LucideIcon,
} from "lucide-react";

/** Headings of the groups in the navigation, in their order. Daily tasks come first. */
export const NAVIGATION_GROUPS = ["Money", "Books", "Build", "Project"] as const;

export interface NavigationItem {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly group: (typeof NAVIGATION_GROUPS)[number];
  readonly onPhoneBar?: boolean;
  /** Shown with local chains only. */
  readonly developmentOnly?: boolean;
}

export const NAVIGATION: readonly NavigationItem[] = [
  { href: "/", label: "Overview", icon: House, group: "Money", onPhoneBar: true },
  { href: "/inbox", label: "Inbox", icon: Inbox, group: "Money" },
  { href: "/swap", label: "Swap", icon: ArrowLeftRight, group: "Money", onPhoneBar: true },
  { href: "/transfer", label: "Transfer", icon: Send, group: "Money", onPhoneBar: true },
  { href: "/receive", label: "Receive", icon: Download, group: "Money" },
  { href: "/payouts", label: "Payouts", icon: HandCoins, group: "Money" },
  { href: "/private", label: "Private", icon: VenetianMask, group: "Money" },
  { href: "/activity", label: "Activity", icon: List, group: "Books", onPhoneBar: true },
  { href: "/balances", label: "Balances", icon: Coins, group: "Books" },
  { href: "/accounts", label: "Global accounts", icon: Landmark, group: "Books" },
  { href: "/reserves", label: "Reserves", icon: ShieldCheck, group: "Books" },
  { href: "/wallets", label: "Wallets", icon: Wallet, group: "Books" },
  { href: "/contacts", label: "Contacts", icon: BookUser, group: "Books" },
  { href: "/api-keys", label: "API keys", icon: KeyRound, group: "Build" },
  { href: "/webhooks", label: "Webhooks", icon: Webhook, group: "Build" },
  { href: "/api-reference", label: "API reference", icon: BookOpenText, group: "Build" },
  { href: "/dev/mail", label: "Mail", icon: Mail, group: "Build", developmentOnly: true },
  {
    href: "/dev/webhooks",
    label: "Receiver",
    icon: Radio,
    group: "Build",
    developmentOnly: true,
  },
  { href: "/members", label: "Members", icon: Users, group: "Project" },
  { href: "/audit-log", label: "Audit log", icon: ScrollText, group: "Project" },
  { href: "/notifications", label: "Notifications", icon: Bell, group: "Project" },
  { href: "/settings", label: "Settings", icon: Settings, group: "Project" },
];

export const isCurrent = (href: string, path: string): boolean =>
  href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
