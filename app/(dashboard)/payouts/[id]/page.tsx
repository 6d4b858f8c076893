import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { payoutQueries } from "@/app/_data/queries";
import { PayoutPage } from "@/components/features/payouts/payout-page";

export const metadata: Metadata = { title: "Payout" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return (
    <Prefetched queries={payoutQueries(id)}>
      <PayoutPage key={id} payoutId={id} />
    </Prefetched>
  );
};

export default Page;
