import {
  ArrowLeftRight,
  Bell,
  Coins,
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

export interface NavigationItem {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Stands in the bar at the bottom of phones. */
  readonly onPhoneBar?: boolean;
  /** There with local chains alone. */
  readonly developmentOnly?: boolean;
}

export const NAVIGATION: readonly NavigationItem[] = [
  { href: "/", label: "Overview", icon: House, onPhoneBar: true },
  { href: "/inbox", label: "Inbox", icon: Inbox },
  { href: "/notifications", label: "Notifications", icon: Bell },
  { href: "/swap", label: "Swap", icon: ArrowLeftRight, onPhoneBar: true },
  { href: "/transfer", label: "Transfer", icon: Send, onPhoneBar: true },
  { href: "/activity", label: "Activity", icon: List, onPhoneBar: true },
  { href: "/balances", label: "Balances", icon: Coins },
  { href: "/accounts", label: "Global accounts", icon: Landmark },
  { href: "/payouts", label: "Payouts", icon: HandCoins },
  { href: "/private", label: "Private", icon: VenetianMask },
  { href: "/reserves", label: "Reserves", icon: ShieldCheck },
  { href: "/wallets", label: "Wallets", icon: Wallet },
  { href: "/api-keys", label: "API keys", icon: KeyRound },
  { href: "/webhooks", label: "Webhooks", icon: Webhook },
  { href: "/members", label: "Members", icon: Users },
  { href: "/audit-log", label: "Audit log", icon: ScrollText },
  { href: "/settings", label: "Settings", icon: Settings },
  { href: "/dev/mail", label: "Mail", icon: Mail, developmentOnly: true },
  { href: "/dev/webhooks", label: "Receiver", icon: Radio, developmentOnly: true },
];

export const isCurrent = (href: string, path: string): boolean =>
  href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
