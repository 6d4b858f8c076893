import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { accountQueries } from "@/app/_data/queries";
import { AccountPage } from "@/components/features/global-accounts/account-page";

export const metadata: Metadata = { title: "Global account" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return (
    <Prefetched queries={accountQueries(id)}>
      <AccountPage key={id} accountId={id} />
    </Prefetched>
  );
};

export default Page;
