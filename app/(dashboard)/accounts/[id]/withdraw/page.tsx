import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { accountQueries } from "@/app/_data/queries";
import { WithdrawPage } from "@/components/features/global-accounts/withdraw/withdraw-page";

export const metadata: Metadata = { title: "Withdraw" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return (
    <Prefetched queries={accountQueries(id)}>
      <WithdrawPage key={id} accountId={id} />
    </Prefetched>
  );
};

export default Page;
