import os from "node:os";

// Reports one processor less, so that a processor stays free for requests. The proving library
// starts one thread per processor, without an option for fewer. On two processors, a request took
// 1.8 times as long during a proof that used both.
const processors = os.cpus();
os.cpus = () => processors.slice(0, Math.max(1, processors.length - 1));
