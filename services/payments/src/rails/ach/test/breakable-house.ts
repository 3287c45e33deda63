import { fromNewYork } from '../../../clock/new-york.ts';
import { createQuarantine } from '../../../quarantine/service.ts';
import type { Tenant } from '../../../tenant.ts';
import type { AchTransport, InboundFile } from '../bank/transport.ts';
import { createHouse, type House } from './house.ts';

export type BreakableHouse = Awaited<ReturnType<typeof openBreakableHouse>>;

/** A house whose line to the operator tests cut and answer themselves. */
export async function openBreakableHouse() {
  /** What stands on the line at the moment. */
  const onLine: Partial<AchTransport> = {};
  const house = await createHouse({
    wrap: (transport) => ({
      send: (file) => (onLine.send ?? transport.send)(file),
      collect: (asOf) => (onLine.collect ?? transport.collect)(asOf),
      acknowledge: (name) => (onLine.acknowledge ?? transport.acknowledge)(name),
      nextAnswerAt: () => (onLine.nextAnswerAt ?? transport.nextAnswerAt)(),
    }),
  });
  await house.startWorking();
  let tenants = 0;
  let tenant: Tenant;

  function mendLine(): void {
    for (const part of Object.keys(onLine) as (keyof AchTransport)[]) delete onLine[part];
  }

  async function pay(input: Parameters<House['pay']>[1] = {}): Promise<string> {
    const id = await house.pay(tenant, input);
    await house.idle();
    return id;
  }

  /** The operator, past what stands on the line. */
  function operatorLine(): AchTransport {
    return house.operator.connect(tenant.id, 'calendar');
  }

  return {
    house,
    onLine,
    mendLine,
    pay,
    operatorLine,

    /** A tenant for the next test, in the morning of 1 March 2083, with nothing left of the test before. */
    async newTenant(): Promise<Tenant> {
      mendLine();
      house.alerts.length = 0;
      await house.database.query('delete from rail_quarantine');
      tenants += 1;
      tenant = await house.addTenant(`org_faults_${tenants}`);
      await house.moveClock(tenant, fromNewYork('2083-03-01', '09:00'));
      return tenant;
    },

    /** Moves the clock without a worker's help: the test does the work itself. */
    async setClock(date: string, time: string): Promise<void> {
      await house.database.query('update organisations set clock_frozen_at = $2 where id = $1', [
        tenant.organisationId,
        fromNewYork(date, time),
      ]);
    },

    async quarantined(): Promise<{ reason: string; content: string }[]> {
      const quarantine = createQuarantine(house.context);
      const listed = await quarantine.list({
        rail: 'ach',
        mode: null,
        status: null,
        before: null,
        limit: 100,
      });
      const whole = await Promise.all(listed.map(({ id }) => quarantine.get(id)));
      return whole.map(({ reason, content }) => ({ reason, content })).reverse();
    },

    async states(id: string): Promise<string[]> {
      const { rows } = await house.database.query<{ leg: string; state: string }>(
        'select leg, state from ach_entries where payment_id = $1 order by leg',
        [id],
      );
      return rows.map(({ leg, state }) => `${leg} ${state}`);
    },

    /** Lets the next fetch find this file instead of the operator's. */
    deliver(...files: InboundFile[]): void {
      let waiting = files;
      onLine.collect = async () => ({ files: waiting, isAll: true });
      onLine.acknowledge = async (name) => {
        waiting = waiting.filter((file) => file.name !== name);
      };
      onLine.nextAnswerAt = async () => (waiting.length > 0 ? new Date(0) : null);
    },

    /** The return file that the operator made for a payment, which has not been read. */
    async takeReturn(): Promise<{ id: string; file: InboundFile }> {
      const id = await pay({ amount: 55_55, sourceId: 'pm_test_ach_return_r01' });
      onLine.collect = async () => ({ files: [], isAll: true });
      onLine.nextAnswerAt = async () => null;
      await house.moveClock(tenant, fromNewYork('2083-03-01', '23:00'));
      const { files } = await operatorLine().collect(fromNewYork('2083-03-02', '08:30'));
      const [file] = files;
      if (!file) throw new Error('the operator has no answer');
      return { id, file };
    },
  };
}
