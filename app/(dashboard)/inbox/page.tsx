import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { INBOX_QUERIES } from "@/app/_data/queries";
import { InboxPage } from "@/components/features/inbox/inbox";

export const metadata: Metadata = { title: "Inbox" };

const Page = (): ReactNode => (
  <Prefetched queries={INBOX_QUERIES}>
    <InboxPage />
  </Prefetched>
);

export default Page;
