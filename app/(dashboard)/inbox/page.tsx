import type { Metadata } from "next";
import type { ReactNode } from "react";
import { InboxPage } from "@/components/features/inbox/inbox";

export const metadata: Metadata = { title: "Inbox" };

const Page = (): ReactNode => <InboxPage />;

export default Page;
