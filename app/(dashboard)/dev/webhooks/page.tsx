import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ReceiverPage } from "@/components/features/webhooks/receiver-page";

export const metadata: Metadata = { title: "Webhook receiver" };

const Page = (): ReactNode => <ReceiverPage />;

export default Page;
