import type { Metadata } from "next";
import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { ReceiverPage } from "@/components/features/webhooks/receiver-page";
import { getPublicConfig } from "@/lib/http/public-config";

export const metadata: Metadata = { title: "Webhook receiver" };

const Page = (): ReactNode => {
  if (getPublicConfig().env !== "development") notFound();
  return <ReceiverPage />;
};

export default Page;
